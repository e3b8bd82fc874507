import AppStore
import HTTP
import PurchaseModel
import Simulator
import Testing

/// How often Apple is called by somebody who asks all the time: never in a hot loop.
@Suite struct CalmTests {
    struct Trouble: Sendable {
        let name: String
        let answer: @Sendable (HTTPCall) throws(HTTPCallFailure) -> HTTPResponse?
        /// In an hour of asking twice a second.
        let callsMax: Int
    }

    static let troubles = [
        Trouble(name: "503", answer: { _ throws(HTTPCallFailure) in HTTPResponse(.serviceUnavailable) }, callsMax: 25),
        Trouble(
            name: "500 with Apple's code",
            answer: { _ throws(HTTPCallFailure) in
                HTTPResponse(.internalServerError, body: Array(#"{"errorCode":5000001,"errorMessage":"x"}"#.utf8))
            },
            callsMax: 25
        ),
        Trouble(name: "time-out", answer: { _ throws(HTTPCallFailure) in throw .timedOut }, callsMax: 25),
        Trouble(name: "reset", answer: { _ throws(HTTPCallFailure) in throw .noResponse }, callsMax: 25),
        Trouble(
            name: "page",
            answer: { _ throws(HTTPCallFailure) in HTTPResponse(.ok, body: Array("<html>".utf8)) },
            callsMax: 25
        ),
        Trouble(name: "401", answer: { _ throws(HTTPCallFailure) in HTTPResponse(.unauthorized) }, callsMax: 12),
        Trouble(
            name: "429 without a word",
            answer: { _ throws(HTTPCallFailure) in HTTPResponse(.tooManyRequests) },
            callsMax: 61
        ),
        Trouble(
            name: "429 in milliseconds",
            answer: { _ throws(HTTPCallFailure) in
                HTTPResponse(.tooManyRequests, fields: ["Retry-After": "1767227025000"])
            },
            // Nothing until then; after it the moment stays the same, and is past.
            callsMax: 45
        ),
        Trouble(
            name: "429 in seconds",
            answer: { _ throws(HTTPCallFailure) in HTTPResponse(.tooManyRequests, fields: ["Retry-After": "120"]) },
            callsMax: 31
        ),
    ]

    @Test(arguments: troubles.indices)
    func anHourOfTroubleIsFewCalls(index: Int) async throws {
        let trouble = Self.troubles[index]
        let shop = try ServerDesk(instead: trouble.answer)
        let id = try #require(TransactionID("1"))
        for _ in 0..<7_200 {
            let failure = await failure { () async throws(AppStoreFailure) in
                try await shop.client.transaction(id, in: .production)
            }
            #expect(failure != nil)
            shop.desk.clock.advance(by: .milliseconds(500))
        }
        let calls = shop.desk.log.calls.count
        #expect(calls <= trouble.callsMax && calls >= 3, "\(trouble.name): \(calls)")
    }

    @Test func greedIsHeldBackBeforeAppleHasToSaySo() async throws {
        var options = ServerAPI.Options()
        options.limitsRates = true
        let shop = try ServerDesk(options)
        var (sent, held) = (0, 0)
        for _ in 0..<7_200 {
            let failure = await failure { () async throws(AppStoreFailure) in
                try await shop.client.requestTestNotification(in: .sandbox)
            }
            switch failure {
            case nil: sent += 1
            case .throttled?: held += 1
            default: throw AppleDesk.DeskFault.unexpected("\(String(describing: failure))")
            }
            shop.desk.clock.advance(by: .seconds(1))
        }
        #expect(shop.desk.log.calls.count == sent)
        let said = shop.desk.log.events.contains { if case .throttled = $0 { true } else { false } }
        #expect(!said)
        // 720 are Apple's limit for two hours.
        #expect((640...720).contains(sent) && held > 6_000)
    }

    /// A key that Apple does not take rests; receipts are asked about with the shared secret all the same, and what is answered
    /// there says nothing of the key.
    @Test func aKeysTroubleIsNotThatOfReceipts() async throws {
        let desk = try ServerDesk().desk
        let line = desk.line(HTTPHandler { _ in HTTPResponse(.ok) })
        let url = "https://buy.itunes.apple.com/verifyReceipt"
        let call = HTTPCall(method: .post, url: url, fields: [:], timeout: .seconds(1))
        func lane(isByKey: Bool) -> AppleLane {
            AppleLane(
                app: AppleDesk.bundleID,
                store: .production,
                endpoint: isByKey ? "history" : "verify_receipt",
                perSecond: 50,
                isByKey: isByKey
            )
        }
        for _ in 0..<3 {
            _ = await failure { () async throws(AppStoreFailure) in
                try await line.send(call, on: lane(isByKey: true)) { _ throws(AppStoreFailure) in throw .unauthorized }
            }
        }
        #expect(line.isResting(lane(isByKey: true), at: url) && !line.isResting(lane(isByKey: false), at: url))
        try await line.send(call, on: lane(isByKey: false)) { _ throws(AppStoreFailure) in }
        #expect(line.isResting(lane(isByKey: true), at: url))
        _ = try desk.buy("sword")
        _ = try await desk.receiptCall().verify(desk.receipt(), of: desk.credentials)
        let asked = desk.log.events.compactMap { if case .answered(let lane, _, _) = $0 { lane } else { nil } }
        #expect(asked.last?.endpoint == "verify_receipt" && asked.last?.isByKey == false)
    }

    @Test func oneStoresTroubleIsNotTheOthers() async throws {
        let shop = try ServerDesk { call throws(HTTPCallFailure) in
            call.url.contains("/sandbox/") ? HTTPResponse(.serviceUnavailable) : nil
        }
        let sold = try shop.desk.buy("sword")
        for _ in 0..<10 {
            _ = await failure { () async throws(AppStoreFailure) in
                try await shop.client.transaction(sold.id, in: .sandbox)
            }
        }
        let failure = await failure { () async throws(AppStoreFailure) in
            try await shop.client.transaction(sold.id, in: .sandbox)
        }
        #expect(failure == .resting(until: AppleDesk.start.advanced(by: .seconds(5))))
        #expect(shop.client.isResting(in: .sandbox) && !shop.client.isResting(in: .production))
        #expect(try await shop.client.transaction(sold.id, in: .production).store == .production)
        let rests = shop.desk.log.events.compactMap { if case .resting(let lane, _) = $0 { lane.store } else { nil } }
        #expect(rests == [.sandbox])
    }

    @Test func oneLanesLimitIsNotTheOthers() async throws {
        let shop = try ServerDesk { call throws(HTTPCallFailure) in
            call.url.contains("/history/") ? HTTPResponse(.tooManyRequests, fields: ["Retry-After": "60"]) : nil
        }
        let sold = try shop.desk.buy("sword")
        for _ in 0..<5 {
            _ = await failure { () async throws(AppStoreFailure) in try await shop.client.historyPage(ofAny: sold.id) }
        }
        #expect(shop.desk.log.calls.count == 1)
        #expect(try await shop.client.transaction(sold.id).store == .production)
    }

    @Test func aHostThatAnswersAgainIsAskedAgain() async throws {
        let log = CallLog()
        let shop = try ServerDesk { call throws(HTTPCallFailure) in
            log.note(call)
            return log.calls.count <= 6 ? HTTPResponse(.serviceUnavailable) : nil
        }
        let sold = try shop.desk.buy("sword")
        for _ in 0..<20 {
            _ = await failure { () async throws(AppStoreFailure) in try await shop.client.transaction(sold.id) }
        }
        #expect(log.calls.count == 5)
        shop.desk.clock.advance(by: .seconds(5))
        _ = await failure { () async throws(AppStoreFailure) in try await shop.client.transaction(sold.id) }
        shop.desk.clock.advance(by: .seconds(10))
        #expect(try await shop.client.transaction(sold.id).store == .production)
        #expect(try await shop.client.transaction(sold.id).store == .production)
        let recovered = shop.desk.log.events.count { if case .recovered = $0 { true } else { false } }
        #expect(recovered == 1)
    }

    /// Refusals are answers: a customer's odd id must not stop everybody else's.
    @Test func refusalsOpenNothing() async throws {
        let shop = try ServerDesk()
        let id = try #require(TransactionID("999999999999999"))
        for _ in 0..<50 {
            let failure = await failure { () async throws(AppStoreFailure) in
                try await shop.client.transaction(id, in: .production)
            }
            #expect(failure == .refused(.transactionNotFound))
        }
    }

    @Test(arguments: ["<html></html>", #"{"status":21005}"#, #"{"status":21009}"#])
    func verifyReceiptIsAsCalm(body: String) async throws {
        let desk = AppleDesk()
        let call = try desk.receiptCall { _ throws(HTTPCallFailure) in
            HTTPResponse(.ok, body: Array(body.utf8))
        }
        for _ in 0..<3_600 {
            guard case .unavailable = await call.verify([1], of: desk.credentials) else {
                throw AppleDesk.DeskFault.unexpected("a verdict")
            }
            desk.clock.advance(by: .seconds(1))
        }
        #expect((5...25).contains(desk.log.calls.count))
    }
}
