import Encoding
import Pipeline
import PurchaseModel
import Simulator
import Storage
import TestSupport
import Testing

/// What notifications cost, and what becomes of them when the store fails.
@Suite struct NotificationIntakeTests {
    private static func intake(_ house: PipelineHouse) throws -> NotificationIntake {
        NotificationIntake(
            verifier: try PipelineHouse.verifier(),
            recorder: house.recorder,
            store: house.store,
            refusals: RefusalLedger(),
            clock: house.clock
        ) { _ in }
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
