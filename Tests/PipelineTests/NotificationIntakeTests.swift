import Encoding
import Pipeline
import PurchaseModel
import Simulator
import Storage
import TestSupport
import Testing

/// What notifications cost, and what becomes of them when the store fails.
@Suite struct NotificationIntakeTests {
    private static func intake(
        _ house: PipelineHouse,
        unsignedBytesPerHour: Int = NotificationIntake.unsignedBytesPerHour
    ) throws -> NotificationIntake {
        NotificationIntake(
            verifier: try PipelineHouse.verifier(),
            recorder: house.recorder,
            store: house.store,
            refusals: RefusalLedger(),
            secrets: [house.app.id: Array("secret".utf8)],
            clock: house.clock,
            unsignedBytesPerHour: unsignedBytesPerHour
        ) { _ in }
    }

    /// As Apple sent it of old: each number another one.
    private static func unsigned(
        _ number: Int,
        _ receipt: [UInt8]? = nil,
        type: String = "DID_CHANGE_RENEWAL_STATUS",
        store: String = "Sandbox"
    ) -> [UInt8] {
        JSONWriter.object { json in
            json.member("notification_type", type)
            json.member("password", "secret")
            json.member("environment", store)
            json.member("bvrs", String(number))
            json.object("unified_receipt") { json in
                let text = receipt.map { String(decoding: Base64.encode($0, .standard, isPadded: true), as: UTF8.self) }
                json.member("latest_receipt", text)
            }
        }
    }

    /// The secret is in many an app. What Apple signed is let in all the same, once.
    @Test func whoKnowsTheSecretFillsTheDiskSlowly() async throws {
        try await PipelineHouse().open { house in
            let intake = try Self.intake(house, unsignedBytesPerHour: 3 * Self.unsigned(1).count + 9)
            func words(_ bodies: [[UInt8]]) async throws -> [String] {
                var words: [String] = []
                for body in bodies {
                    switch try await intake.take(body, for: house.app) {
                    case .kept(_, let isNew): words.append(isNew ? "kept" : "known")
                    case .tooMuch: words.append("too much")
                    default: words.append("other")
                    }
                }
                return words
            }
            let first = try await words((1...5).map { Self.unsigned($0) })
            #expect(first == ["kept", "kept", "kept", "too much", "too much"])
            let receipt = try TestAuthority.signer().receipt([try Proofs.transaction(1)], createdAt: PipelineHouse.now)
            let writes = house.store.writes
            // It is taken back, by the same number.
            var taken = try Proofs.transaction(1)
            taken.revocation = Revocation(at: PipelineHouse.now)
            let refund = try TestAuthority.signer().receipt([taken], createdAt: PipelineHouse.now)
            let signed = [(6, receipt), (7, receipt), (8, refund), (9, refund)].map { Self.unsigned($0, $1) }
            let second = try await words(signed + [Self.unsigned(4), Self.unsigned(1)])
            #expect(second == ["kept", "too much", "kept", "too much", "too much", "known"])
            #expect(house.store.writes == writes + 2)
            #expect(try await house.figures().transactions == 1)
            house.clock.advance(by: .seconds(1_800))
            #expect(try await words([10, 11].map { Self.unsigned($0) }) == ["kept", "too much"])
        }
    }

    /// A receipt that shows a refund which Apple has given back since shows it for ever.
    @Test func whatAppleHasGivenBackIsNoNews() async throws {
        try await PipelineHouse().open { house in
            let intake = try Self.intake(house, unsignedBytesPerHour: 9)
            var taken = try Proofs.transaction(1)
            taken.revocation = Revocation(at: PipelineHouse.now)
            let signer = TestAuthority.signer()
            let old = try signer.receipt([taken], createdAt: PipelineHouse.now)
            guard case .kept = try await intake.take(Self.unsigned(1, old), for: house.app) else {
                Issue.record("it was not kept")
                return
            }
            var good = try Proofs.transaction(1)
            good.signedAt = PipelineHouse.now.advanced(by: .seconds(60))
            var notice = Notice(
                uuid: "5f1f0a64-3d0b-4d4e-9a4e-2d1bb6b2f3a2",
                type: "REFUND_REVERSED",
                signedAt: good.signedAt
            )
            notice.transaction = good
            guard case .kept = try await intake.take(signer.notificationBody(notice), for: house.app) else {
                Issue.record("it was not kept")
                return
            }
            let writes = house.store.writes
            for number in 2...9 {
                guard case .tooMuch = try await intake.take(Self.unsigned(number, old), for: house.app) else {
                    Issue.record("\(number) was let in")
                    continue
                }
            }
            #expect(house.store.writes == writes)
        }
    }

    /// It brings the whole receipt: that a period is new makes nothing else in it just bought, also where Apple signed that for
    /// a customer who is known.
    @Test(arguments: ["DID_RENEW", "DID_RECOVER", "INITIAL_BUY", "INTERACTIVE_RENEWAL"])
    func whatHistoryToldOfIsNotBoughtByAReceipt(type: String) async throws {
        try await PipelineHouse().open { house in
            let intake = try Self.intake(house)
            let signer = TestAuthority.signer(.production)
            let ann = try #require(CustomerID("ann"))
            let token = try #require(AccountToken(ofCustomer: ann))
            var month = try Proofs.transaction(11, product: "monthly")
            let end = PipelineHouse.now.advanced(by: .seconds(30 * 86_400))
            (month.kind, month.expiresAt, month.accountToken) = (.autoRenewable, end, token)
            _ = try await house.submit(Array(signer.transaction(month).utf8))
            var coins = try Proofs.transaction(1)
            coins.accountToken = token
            try await Self.tellOfHistory(coins, house)
            #expect(try await Self.words(house, coins, month) == ["waiting from_history", "granted"])
            house.clock.advance(by: .seconds(30 * 86_400))
            var next = month
            next.id = try Proofs.transaction(12).id
            (next.purchasedAt, next.expiresAt) = (end, end.advanced(by: .seconds(30 * 86_400)))
            let receipt = try signer.receipt([coins, month, next], createdAt: house.clock.now)
            let body = Self.unsigned(1, receipt, type: type, store: "PROD")
            guard case .kept(let kept, true) = try await intake.take(body, for: house.app) else {
                Issue.record("it was not kept")
                return
            }
            let expected = ["waiting from_history", "granted", "granted"]
            #expect(try await Self.words(house, coins, month) == expected)
            _ = try await intake.decideAgain(kept, of: house.app) { _ in }
            #expect(try await Self.words(house, coins, month) == expected)
            let told = try await house.store.read { reader throws(StoreFailure) in
                try reader.events(app: house.app.id, after: .start, where: .everything, limit: 100).events
            }
            #expect(told.count { $0.event.type == "delivery.granted" } == 2)
        }
    }

    private static let realm = Realm(environment: .production, isTestSigned: true)

    /// Apple's history of a customer has it.
    private static func tellOfHistory(_ transaction: Transaction, _ house: PipelineHouse) async throws {
        try await house.recorder.recordHistory(transaction, of: house.app, in: realm, at: house.clock.now)
    }

    /// What became of all in the chains that some transactions began, by their numbers.
    private static func words(_ house: PipelineHouse, _ firsts: Transaction...) async throws -> [String] {
        let chains = firsts.map { ChainKey(app: house.app.id, realm: realm, original: $0.id) }
        let rows = try await house.store.read { reader throws(StoreFailure) in try reader.fulfilments(chains) }
        return rows.sorted { $0.transaction.id < $1.transaction.id }.map { row in
            [row.state.rawValue, row.reason?.rawValue].compactMap(\.self).joined(separator: " ")
        }
    }

    private static func notification(_ number: Int64) throws -> [UInt8] {
        var notice = Notice(
            uuid: "5f1f0a64-3d0b-4d4e-9a4e-2d1bb6b2f3a1",
            type: "ONE_TIME_CHARGE",
            signedAt: PipelineHouse.now
        )
        notice.transaction = try Proofs.transaction(number)
        return try TestAuthority.signer().notificationBody(notice)
    }

    @Test func whatIsRefusedOrKnownWritesNothing() async throws {
        try await PipelineHouse().open { house in
            let intake = try Self.intake(house)
            var forged = try Self.notification(1)
            forged[forged.count - 20] ^= 1
            for body in [forged, Array("{}".utf8), forged] {
                guard case .refused = try await intake.take(body, for: house.app) else {
                    Issue.record("it was let in")
                    continue
                }
            }
            #expect(house.store.writes == 0)
            let good = try Self.notification(1)
            for isFirst in [true, false, false] {
                guard case .kept(_, isFirst) = try await intake.take(good, for: house.app) else {
                    Issue.record("it was not kept")
                    continue
                }
                #expect(house.store.writes == 1)
            }
        }
    }

    /// A commit that fails keeps neither the notification nor what it tells: Apple sends it again.
    @Test func aFailedCommitKeepsNothing() async throws {
        try await PipelineHouse().open { house in
            let intake = try Self.intake(house)
            let body = try Self.notification(1)
            house.store.fail(.full)
            await #expect(throws: StoreFailure.full) { _ = try await intake.take(body, for: house.app) }
            #expect(try await house.figures().transactions == 0)
            guard case .kept(let kept, true) = try await intake.take(body, for: house.app) else {
                Issue.record("it was not kept")
                return
            }
            #expect(kept.type == "ONE_TIME_CHARGE")
            #expect(try await house.figures().transactions == 1)
        }
    }
}
