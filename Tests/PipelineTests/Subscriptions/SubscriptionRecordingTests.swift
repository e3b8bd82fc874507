import Pipeline
import PurchaseModel
import Simulator
import Storage
import TestSupport
import Testing

/// Renewal infos on their way through the house, and what the commands make of damaged rows.
@Suite struct SubscriptionRecordingTests {
    private static let day = Duration.seconds(86_400)

    private static func period() throws -> Transaction {
        var period = try Proofs.transaction(1, product: "monthly")
        period.kind = .autoRenewable
        period.expiresAt = PipelineHouse.now.advanced(by: day)
        period.subscriptionGroup = "21"
        return period
    }

    private static func renewal(signedAfter seconds: Int64 = 1) throws -> Renewal {
        let period = try period()
        var renewal = Renewal(
            originalID: period.id,
            product: period.product,
            signedAt: PipelineHouse.now.advanced(by: .seconds(seconds))
        )
        renewal.willAutoRenew = false
        renewal.renewsAt = period.expiresAt
        return renewal
    }

    @Test func aNotificationTellsOfTheRenewalAsWell() async throws {
        let house = try PipelineHouse()
        let notice = Notice(uuid: "1", type: "DID_CHANGE_RENEWAL_STATUS", signedAt: PipelineHouse.now)
        var told = notice
        told.transaction = try Self.period()
        told.renewal = try Self.renewal()
        let proof = try TestAuthority.signer().notification(told)
        try await house.open { house in
            let first = try await house.submit(Array(proof.utf8))
            let second = try await house.submit(Array(proof.utf8))
            #expect(first.word == "recorded" && second.word == "known")
        }
        let row = try #require(try await Self.row(in: house.store, app: house.app.id))
        #expect(row.renewal?.willAutoRenew == false && row.willAutoRenew == false)
        #expect(row.state == .active && row.group == "21" && row.version == 1)
    }

    /// It names no app: beside nothing that does, it could be anybody's.
    @Test func aRenewalInfoAloneIsNotRecorded() async throws {
        let house = try PipelineHouse()
        let proof = try TestAuthority.signer().renewal(Self.renewal())
        try await house.open { house in
            let outcome = try await house.submit(Array(proof.utf8))
            #expect(outcome.word == "nothing")
        }
        #expect(try await Self.row(in: house.store, app: house.app.id) == nil)
    }

    @Test func aTransactionAloneMakesARowAndTimeIsToldOnce() async throws {
        let house = try PipelineHouse()
        let proof = try Proofs.jws(Self.period())
        let outcome = try await house.open { house in try await house.submit(proof) }
        #expect(outcome.word == "recorded")
        let row = try #require(try await Self.row(in: house.store, app: house.app.id))
        #expect(row.renewal == nil && row.state == .active)
        let now = PipelineHouse.now.advanced(by: Self.day * 3)
        let due = try await house.store.read { reader throws(StoreFailure) in
            try reader.dueSubscriptions(at: now, limit: 10)
        }
        #expect(due == [row])
        for _ in 0..<2 {
            _ = try await house.store.write { write throws(StoreFailure) in
                try LedgerRequests.look(at: due.map(\.chain), at: now, in: write)
            }
        }
        let types = try await house.store.read { reader throws(StoreFailure) in
            try reader.walkStreams(app: row.chain.app, after: nil, limit: 100).rows.map(\.type)
        }
        #expect(types.filter { $0 == "subscription.expired" }.count == 1)
        #expect(try await Self.row(in: house.store, app: house.app.id)?.state == .expired)
    }

    /// Something else wrote to the database: the check finds it, and the rebuild mends it.
    @Test func whatDoesNotFollowIsFoundAndMended() async throws {
        let shop = try CheckedShop(MemoryStore())
        try await shop.show(Self.period())
        var next = try Self.period()
        next.id = try #require(TransactionID(number: next.id.number + 1))
        next.purchasedAt = PipelineHouse.now.advanced(by: Self.day)
        next.expiresAt = PipelineHouse.now.advanced(by: Self.day * 2)
        try await shop.show(next)
        let whole = try await Self.findings(shop)
        #expect(whole.isSound && whole.subscriptions == 1)
        let chain = try await shop.store.read { reader throws(StoreFailure) in
            try reader.walkSubscriptions(app: shop.app.id, after: nil, limit: 10).rows[0]
        }
        for change: @Sendable (RecordedSubscription) -> RecordedSubscription in [
            { $0.damaged(current: $0.chain.original, expiresAt: $0.expiresAt) },
            { $0.damaged(current: nil, expiresAt: $0.expiresAt) },
            { $0.damaged(current: $0.current, expiresAt: nil) },
        ] {
            try await shop.store.write { write throws(StoreFailure) in
                var decision = Decision()
                let stored = try write.subscriptions([chain.chain])[0]
                decision.subscriptions = [.update(change(stored))]
                try write.apply(decision, evidence: nil)
            }
            #expect(try await Self.findings(shop).counts[.subscriptionContradicts] != nil)
            let rebuild = LedgerRebuild(apps: [shop.app], at: shop.now)
            let compared = try await shop.store.read { reader throws(StoreFailure) in try rebuild.compare(reader) }
            #expect(compared.ofRows == [1, 0])
            let applied = try await rebuild.apply(to: shop.store)
            #expect(applied.ofRows == [1, 0] && applied.told.isEmpty)
            #expect(try await Self.findings(shop).isSound)
        }
    }

    private static func findings(_ shop: CheckedShop) async throws -> LedgerFindings {
        try await shop.store.read { reader throws(StoreFailure) in try LedgerCheck.run(over: reader) }
    }

    private static func row(in store: any Store, app: AppID) async throws -> RecordedSubscription? {
        try await store.read { reader throws(StoreFailure) in
            try reader.walkSubscriptions(app: app, after: nil, limit: 10).rows.first
        }
    }
}

extension RecordedSubscription {
    fileprivate func damaged(current: TransactionID?, expiresAt: Timestamp?) -> RecordedSubscription {
        copy(current: current, expiresAt: expiresAt, version: version + 1)
    }
}
