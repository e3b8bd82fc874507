import AppStore
import HTTP
import Jobs
import Pipeline
import PurchaseModel
import Simulator
import Storage
import Testing

/// The ledger comes from a backup, and the App Store has gone on.
@Suite struct ReconciliationTests {
    private static func subscribed(_ house: WorkHouse) async throws -> SoldTransaction {
        let sold = try house.buy("pro.monthly")
        _ = try await house.submit(try house.receipt())
        return sold
    }

    /// What is true: the store's own transactions, and which of them it took back.
    private static func truth(_ house: WorkHouse) -> [TransactionID: Bool] {
        let owner = SimulatedStore.Owner(customer: "anna", app: DemoCatalogue.bundleID)
        return house.simulator.read { store in
            Dictionary(uniqueKeysWithValues: store.transactions(of: owner).map { ($0.id, $0.isRevoked) })
        }
    }

    private static func recorded(_ house: WorkHouse) async throws -> [TransactionID: Bool] {
        var found: [TransactionID: Bool] = [:]
        for id in truth(house).keys {
            if let recorded = try await house.recorded(id) { found[id] = recorded.transaction.revocation != nil }
        }
        return found
    }

    private static func reconcile(_ house: WorkHouse, since start: Timestamp) async throws -> Reconciliation.Plan {
        let account = try #require(house.accounts[house.app.id])
        let plan = try await house.reconciliation.plan(account, from: start, until: house.clock.now)
        try await finish(plan, house)
        return plan
    }

    /// Works until it is done, for a while.
    private static func finish(_ plan: Reconciliation.Plan, _ house: WorkHouse) async throws {
        var (left, isDone) = (plan, false)
        for _ in 0..<20 where !isDone {
            try await house.work(leaving: Reconciliation.leftToServers)
            isDone = try await house.reconciliation.isDone(&left)
            if !isDone { house.pass(.seconds(60)) }
        }
        #expect(isDone)
    }

    @Test func whatHappenedAfterTheBackupIsThereAgain() async throws {
        try await WorkHouse().open { house in
            let sold = try await Self.subscribed(house)
            house.pass(.seconds(5 * 86_400))
            await house.sender.deliverDue()
            let (backup, moment) = (house.store.copy(), house.clock.now)
            // A renewal, a purchase, a refund of it: all of it arrives, and all of it is lost with the disk.
            house.pass(.seconds(30 * 86_400))
            let coins = try house.buy("coins.100")
            _ = try await house.submit(try house.receipt())
            house.pass(.seconds(3_600))
            _ = try house.simulator.perform(.decideRefund(coins.id, .full))
            house.pass(.seconds(60))
            await house.sender.deliverDue()
            #expect(try await Self.recorded(house) == Self.truth(house))
            house.store.replace(by: backup)
            #expect(try await Self.recorded(house) != Self.truth(house))
            let plan = try await Self.reconcile(house, since: moment.advanced(by: .seconds(-3_600)))
            #expect(plan.subscriptions == 1)
            #expect(plan.readings > 100)
            #expect(try await Self.recorded(house) == Self.truth(house))
            let key = ChainKey(
                app: house.app.id,
                realm: Realm(environment: .production, isTestSigned: true),
                original: sold.id
            )
            let found = try await house.store.read { reader throws(StoreFailure) in
                try reader.subscriptions([key]).first
            }
            #expect(found?.state == .active)
            #expect(found?.current != sold.id)
            // Once more finds nothing new.
            let before = try await Self.recorded(house)
            _ = try await Self.reconcile(house, since: moment)
            #expect(try await Self.recorded(house) == before)
        }
    }

    /// Of whoever has withdrawn her consent after the copy nothing is sent before that was done again.
    @Test func whatWasOnItsWayToAppleIsLeftToServers() async throws {
        let path = "/transactions/consumption/"
        try await WorkHouse(terms: try ConsumptionAnsweringTests.terms()).open { house in
            let sold = try house.buy("coins.100")
            await house.sender.deliverDue()
            _ = try await house.submit(try house.receipt())
            _ = try house.simulator.perform(.askRefund(Act.RefundRequest(transaction: sold.id)))
            await house.sender.deliverDue()
            house.script.set(path, HTTPResponse(.serviceUnavailable))
            house.pass(.seconds(3_600))
            try await house.work()
            let calls = house.calls.values.count { $0.contains(path) }
            #expect(calls > 0)
            house.script.set(path, nil)
            // Its job is due by now.
            house.pass(.seconds(900))
            _ = try await Self.reconcile(house, since: WorkHouse.start)
            #expect(house.calls.values.count { $0.contains(path) } == calls)
            #expect(try await house.waits(for: ConsumptionAnswering.kind))
            let consent = ConsentKey(app: house.app.id, subject: .customer(try #require(CustomerID("ann"))))
            let now = house.clock.now
            _ = try await house.store.write { transaction throws(StoreFailure) in
                try ConsumptionDesk.note(false, of: consent, by: "shop", at: now, in: transaction)
            }
            try await house.work()
            #expect(house.simulator.read { $0.consumptions.isEmpty })
        }
    }

    @Test func whatStillWaitsHasItsJobAgain() async throws {
        try await WorkHouse().open { house in
            let sold = try house.buy("coins.100")
            let waits = try await house.submit(Array(sold.id.description.utf8))
            let kept = try await house.submission(waits)
            // The job was lost: it had ended, and its end was not.
            let (backup, moment) = (house.store.copy(), house.clock.now)
            try await house.work()
            #expect(try await house.recorded(sold.id) != nil)
            house.store.replace(by: backup)
            let plan = try await Self.reconcile(house, since: moment.advanced(by: .seconds(-60)))
            #expect(plan.proofs == 1)
            let settled = try await house.store.read { reader throws(StoreFailure) in try reader.submission(kept.id) }
            #expect(settled?.settlement?.verdict == "test_signed")
            #expect(try await house.recorded(sold.id) != nil)
        }
    }

    /// It was to be decided at once, by a clock that was far ahead then and is right now.
    @Test func whatWaitsForATimeThatWasNeverRealIsDecidedNow() async throws {
        try await WorkHouse().open { house in
            let ahead = Duration.seconds(400 * 86_400)
            let sold = [try house.buy("coins.100"), try house.buy("coins.100")]
            house.clock.advance(by: ahead)
            _ = try await house.submit(Array(sold[0].id.description.utf8))
            house.clock.advance(by: .zero - ahead)
            try await house.work()
            #expect(try await house.recorded(sold[0].id) == nil)
            #expect(try await Self.reconcile(house, since: house.clock.now).proofs == 1)
            #expect(try await house.recorded(sold[0].id) != nil)
            // The same when a server starts.
            house.clock.advance(by: ahead)
            _ = try await house.submit(Array(sold[1].id.description.utf8))
            house.clock.advance(by: .zero - ahead)
            let apps = [house.app]
            await PendingReview(pipeline: house.pipeline, store: house.store, apps: apps, clock: house.clock).run()
            try await house.work()
            #expect(try await house.recorded(sold[1].id) != nil)
        }
    }

    /// The window was compared long before, and nothing comes back to it by itself.
    @Test func whatCouldNotBeTakenInIsLeftAndReadAgain() async throws {
        try await WorkHouse().open { house in
            let sold = try [house.buy("coins.100"), house.buy("coins.100")]
            house.inbox.open(false)
            await house.sender.deliverDue()
            house.pass(.seconds(3_600))
            house.script.spoil("/notifications/history")
            let plan = try await Self.reconcile(house, since: WorkHouse.start)
            #expect(try await house.reconciliation.untaken(of: plan) == 1)
            house.pass(.seconds(6 * 3_600))
            house.script.spoil(nil)
            try await house.work()
            for sold in sold { #expect(try await house.recorded(sold.id) != nil) }
            #expect(try await house.reconciliation.untaken(of: plan) == 0)
            // A second time it finds nothing to fetch, and tells of nothing.
            _ = try await Self.reconcile(house, since: WorkHouse.start)
            let recovered = house.events.values.compactMap { event -> Int64? in
                if case .compared(_, _, let recovered) = event { recovered } else { nil }
            }
            #expect(recovered.reduce(0, +) == 2)
        }
    }

    @Test func whileAppleIsAwayItIsNotDone() async throws {
        try await WorkHouse().open { house in
            _ = try await Self.subscribed(house)
            let account = try #require(house.accounts[house.app.id])
            var chaos = Chaos.none
            chaos.serverError = 1_000
            house.chaos.set(chaos)
            house.pass(.seconds(86_400))
            let start = WorkHouse.start
            var plan = try await house.reconciliation.plan(account, from: start, until: house.clock.now)
            // Not before it has begun, either.
            #expect(try await !house.reconciliation.isDone(&plan))
            try await house.work()
            #expect(try await !house.reconciliation.isDone(&plan))
        }
    }

    /// It was renamed: what the ledger keeps under the old name is due, and nobody asks about it.
    @Test func whatIsDueOfAnotherAppIsNotWaitedFor() async throws {
        try await WorkHouse().open { house in
            let sold = try await Self.subscribed(house)
            let realm = Realm(environment: .production, isTestSigned: true)
            let own = ChainKey(app: house.app.id, realm: realm, original: sold.id)
            let old = try (1...30).map { number in
                ChainKey(
                    app: try #require(AppID("old")),
                    realm: realm,
                    original: try #require(TransactionID(number: number))
                )
            }
            let (now, queue) = (house.clock.now, house.queue)
            try await house.store.write { write throws(StoreFailure) in
                var decision = Decision()
                for row in try write.subscriptions([own]) {
                    decision.subscriptions += old.map { .insert(row.named($0, lookedAtNext: now)) }
                }
                try write.apply(decision, evidence: nil)
                // What was in hand when it was renamed.
                try queue.enqueue(SubscriptionLook(old[0]), in: write)
            }
            let plan = try await Self.reconcile(house, since: WorkHouse.start)
            #expect(plan.subscriptions == 1)
            let due = try await house.store.read { reader throws(StoreFailure) in
                try reader.dueSubscriptions(at: now, limit: 100).count
            }
            #expect(due == old.count)
        }
    }

    /// It was sold there while it was tested: this server asks nothing about it.
    @Test(arguments: [CustomerReading.Subject.refunds, .history])
    func customersOfAStoreThatTheAppTakesNothingOfAreNotAskedAbout(subject: CustomerReading.Subject) async throws {
        try await WorkHouse(environments: [.production]).open { house in
            _ = try house.buy("coins.100")
            _ = try await house.submit(try house.receipt())
            _ = try house.buy("coins.100", by: "tester")
            let old = AppPolicy(
                id: house.app.id,
                bundleID: house.app.bundleID,
                appleID: house.app.appleID,
                environments: [.production, .sandbox],
                acceptsTestSigned: true
            )
            let proof = try house.receipt(of: "tester")
            let tested = try await house.pipeline.submit(
                Submission(app: old, bytes: proof, customer: CustomerID("tess"))
            )
            guard case .recorded = tested else { throw WorkHouse.Unexpected.outcome }
            let account = try #require(house.accounts[house.app.id])
            var plan = try await house.reconciliation.plan(account, from: WorkHouse.start, until: house.clock.now)
            plan.customers = try await house.reconciliation.planReadings(
                subject,
                account,
                boughtSince: WorkHouse.start,
                spacing: .seconds(10)
            )
            #expect(plan.customers == 1)
            try await Self.finish(plan, house)
        }
    }

    /// A customer of whom Apple is to be asked later is waited for.
    @Test func whatIsPlannedOfCustomersIsWaitedFor() async throws {
        try await WorkHouse().open { house in
            _ = try await Self.subscribed(house)
            let account = try #require(house.accounts[house.app.id])
            var plan = try await house.reconciliation.plan(account, from: house.clock.now, until: house.clock.now)
            try await Self.finish(plan, house)
            #expect(try await house.reconciliation.isDone(&plan))
            let sold = try house.buy("coins.100")
            let realm = Realm(environment: .production, isTestSigned: true)
            let key = TransactionKey(app: house.app.id, realm: realm, id: sold.id)
            let due = house.clock.now.advanced(by: .seconds(600))
            plan.customers = 1
            try await house.queue.enqueue(CustomerReading(.history, of: key), due: due)
            #expect(try await !house.reconciliation.isDone(&plan))
            house.pass(.seconds(600))
            try await house.work()
            #expect(try await house.reconciliation.isDone(&plan))
        }
    }

    /// One of an import's is due at nearly any moment, for days.
    @Test func whatAnImportSpreadOverTimeIsNotWaitedFor() async throws {
        try await WorkHouse().open { house in
            let sold = try house.buy("coins.100")
            let waits = try await house.submit(Array(sold.id.description.utf8))
            let kept = try await house.submission(waits)
            let account = try #require(house.accounts[house.app.id])
            var plan = try await house.reconciliation.plan(account, from: house.clock.now, until: house.clock.now)
            try await Self.finish(plan, house)
            try await house.queue.enqueue(ImportedProofDecision(kept.id))
            #expect(try await house.reconciliation.isDone(&plan))
        }
    }
}

extension RecordedSubscription {
    /// The same of another one, and due then.
    fileprivate func named(_ chain: ChainKey, lookedAtNext look: Timestamp) -> RecordedSubscription {
        RecordedSubscription(
            chain: chain,
            current: chain.original,
            renewal: renewal,
            product: product,
            group: group,
            expiresAt: expiresAt,
            graceEndsAt: graceEndsAt,
            willAutoRenew: willAutoRenew,
            state: state,
            since: since,
            nextLook: look,
            lookedAt: lookedAt,
            version: 1
        )
    }
}
