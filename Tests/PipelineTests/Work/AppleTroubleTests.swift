import AppStore
import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Simulator
import Storage
import Testing

/// Every row of Apple's tables, as far as it changes what is ours: what becomes of a proof, and of a subscription.
@Suite struct AppleTroubleTests {
    struct Row: Sendable {
        let status: Int64
        var isRetryable: Bool?
        /// The verdict on a receipt with a bad signature, and on one with a good one; `nil` while it waits.
        var spoiled: String?
        var good: String?
    }

    /// Four days of one status.
    @Test(arguments: [
        Row(status: 21_000), Row(status: 21_001), Row(status: 21_002, spoiled: "malformed"),
        Row(status: 21_003, spoiled: "forged"), Row(status: 21_004), Row(status: 21_005), Row(status: 21_007),
        Row(status: 21_008), Row(status: 21_009), Row(status: 21_010, spoiled: "not_yours", good: "not_yours"),
        Row(status: 21_100, isRetryable: true), Row(status: 21_100, isRetryable: false, spoiled: "malformed"),
        Row(status: 21_199), Row(status: 21_200), Row(status: -1),
    ])
    func eachStatusEndsAProofOrLetsItWait(row: Row) async throws {
        try await WorkHouse().open { house in
            try house.buy("pro.monthly")
            house.script.set(
                "verifyReceipt",
                HTTPResponse(
                    .ok,
                    body: JSONWriter.object { json in
                        json.member("status", row.status)
                        json.member("is-retryable", row.isRetryable)
                    }
                )
            )
            let receipt = try house.receipt()
            // The signature ends it.
            let spoiled = receipt.dropLast() + [receipt[receipt.count - 1] ^ 1]
            let good = try await house.submit(ProofDecisionTests.answer(around: receipt))
            let bad = try await house.submit(ProofDecisionTests.answer(around: Array(spoiled)), customer: "bob")
            for _ in 0..<4 * 24 {
                try await house.work()
                house.pass(.seconds(3_600))
            }
            #expect(try await house.submission(bad).settlement?.verdict == row.spoiled)
            #expect(try await house.submission(good).settlement?.verdict == row.good)
            // Each once an hour; two hosts that contradict each other count twice.
            #expect(house.calls.values.count <= 2 * 2 * 4 * 24, "\(house.calls.values.count) calls")
            house.script.set("", nil)
            for _ in 0..<4 {
                try await house.work()
                house.pass(.seconds(3_600))
            }
            if row.good == nil { #expect(try await house.submission(good).settlement?.verdict == "test_signed") }
            #expect(try await house.deadLetters() == [])
        }
    }

    /// Four days of one error, upon a number that waits and a subscription that is followed.
    @Test(arguments: ServerAPIError.allCases)
    func eachErrorOfTheServerAPIEndsAProofOrLetsItWait(error: ServerAPIError) async throws {
        try await WorkHouse().open { house in
            house.inbox.open(false)
            let sold = try house.buy("pro.monthly")
            _ = try await house.submit(house.receipt())
            // A trial of a week is nearly over.
            house.pass(.seconds(6 * 86_400))
            try await house.work()
            let code = error.rawValue
            let body = JSONWriter.object { json in
                json.member("errorCode", Int64(code))
                json.member("errorMessage", "planted")
            }
            house.script.set("/inApps/", HTTPResponse(HTTPStatus(rawValue: code / 10_000), body: body))
            let other = try house.buy("coins.100")
            let number = try await house.submit(Array("\(other.id)".utf8))
            let before = house.calls.values.count
            for _ in 0..<4 * 24 {
                try await house.work()
                house.pass(.seconds(3_600))
            }
            let told = AppleErrorCode(rawValue: code)
            let isFinal = told.remedy == .giveUp || AppleErrorCode.noTransactionID.contains(told)
            #expect(try await house.submission(number).settlement?.verdict == (isFinal ? "not_yours" : nil))
            #expect(house.calls.values.count - before <= 2 * 2 * 4 * 24, "\(house.calls.values.count - before) calls")
            house.script.set("", nil)
            for _ in 0..<3 * 24 {
                try await house.work()
                house.pass(.seconds(3_600))
            }
            if !isFinal { #expect(try await house.submission(number).settlement?.verdict == "test_signed") }
            // Nobody lost what she has paid for, and what was renewed meanwhile is there.
            let realm = Realm(environment: .production, isTestSigned: true)
            let chain = ChainKey(app: house.app.id, realm: realm, original: sold.id)
            let followed = try await house.store.read { reader throws(StoreFailure) in
                try reader.subscriptions([chain]).first
            }
            #expect(followed?.state == .active)
            #expect(try await house.deadLetters() == [])
        }
    }

    /// A number that is none of a transaction's, as that of an app's download: Apple says so each time, and whoever sent it
    /// hears of it.
    @Test(arguments: [Int64(4_000_006), 4_000_048])
    func aNumberThatIsNoTransactionsIsUnknown(code: Int64) async throws {
        try await WorkHouse().open { house in
            let body = JSONWriter.object { $0.member("errorCode", code) }
            house.script.set("/inApps/v1/transactions/", HTTPResponse(.badRequest, body: body))
            let outcome = try await house.submit(Array("704414893478902111".utf8))
            for _ in 0..<30 {
                try await house.work()
                house.pass(.seconds(60))
            }
            #expect(try await house.submission(outcome).settlement?.verdict == "not_yours")
            #expect(try await house.deadLetters() == [])
        }
    }
}
