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
    private static func unsigned(_ number: Int, _ receipt: [UInt8]? = nil) -> [UInt8] {
        JSONWriter.object { json in
            json.member("notification_type", "DID_CHANGE_RENEWAL_STATUS")
            json.member("password", "secret")
            json.member("environment", "Sandbox")
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
