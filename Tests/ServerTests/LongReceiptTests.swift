import Encoding
import PurchaseModel
import Simulator
import TestSupport
import Testing

/// The receipt of years of a daily subscription is longer than a MiB, and one purchase like any other.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct LongReceiptTests {
    private static let days = 3_000

    private static func receipt() throws -> [UInt8] {
        let original = try Purchase.transaction(0, product: "daily")
        let periods = try (0..<Self.days).map { day in
            var period = try Purchase.transaction(Int64(day), product: "daily")
            period.kind = .autoRenewable
            period.originalID = original.id
            period.purchasedAt = TestAuthority.moment.advanced(by: .seconds((day - Self.days) * 86_400))
            period.expiresAt = period.purchasedAt.advanced(by: .seconds(86_400))
            period.originallyPurchasedAt = TestAuthority.moment.advanced(by: .seconds(-Self.days * 86_400))
            return period
        }
        return try TestAuthority.signer().receipt(periods, createdAt: TestAuthority.moment)
    }

    @Test func thousandsOfPeriodsAreRecordedAsOneProof() async throws {
        let proof = Base64.encode(try Self.receipt(), .standard, isPadded: true)
        let body = Purchase.body(String(decoding: proof, as: UTF8.self))
        #expect(body.count > 1 << 20)
        try await ServerFolder.with { folder in
            let first = try await folder.serve()
            let answer = await first.post(body)
            #expect(answer?.status == 200, "\(answer?.text.prefix(200) ?? "nothing")")
            #expect(answer?.result == "recorded")
            #expect(answer?.json?["transactions"]?.array?.count == Self.days)
            #expect(await first.post(body)?.result == "already_recorded")
            first.stop()
            #expect(await first.exitCode() == 0)

            // As much as the operator allows, and not a byte more.
            let second = try await folder.serve("--limits-body-bytes", "\(body.count)")
            #expect(await second.post(body)?.result == "already_recorded")
            let refused = await second.post(body + [UInt8(ascii: " ")])
            #expect(refused?.status == 413)
            #expect(refused?.code == "body_too_large")
        }
    }
}
