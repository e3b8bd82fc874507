import AppStore
import AppleFormats
import HTTP
import PurchaseModel
import Simulator
import Testing
import Verification

/// Every code of Apple's table, through a whole call: what it is called and what to do.
@Suite struct ErrorCodeTests {
    /// What helps: asking again. For everything else something must change, or nothing helps.
    private static let retried: Set<Int> = [
        4_040_002, 4_040_004, 4_040_006, 4_040_008, 5_000_000, 5_000_001,
    ]
    private static let givenUp: Set<Int> = [
        4_030_004, 4_030_005, 4_030_007, 4_030_028, 4_040_001, 4_040_005, 4_040_009, 4_040_010, 4_040_019, 4_040_022,
    ]
    /// Apple prints these without a number, or not at all; the simulated store's numbers are its own.
    private static let unnumbered: Set<Int> = [4_000_207, 4_000_208, 5_010_000]

    @Test(arguments: ServerAPIError.allCases.filter { $0 != .rateLimitExceeded })
    func eachCodeSaysWhatToDo(error: ServerAPIError) async throws {
        let shop = try ServerDesk()
        shop.fault.set(error)
        let id = try #require(TransactionID("1"))
        let failure = await failure { () async throws(AppStoreFailure) in
            try await shop.client.statuses(ofAny: id, in: .sandbox)
        }
        let code = AppleErrorCode(rawValue: error.rawValue)
        #expect(failure == .refused(code))
        #expect((code.name == nil) == Self.unnumbered.contains(error.rawValue))
        let remedy: AppStoreFailure.Remedy =
            Self.retried.contains(code.rawValue) || code.rawValue >= 5_000_000
            ? .retry : Self.givenUp.contains(code.rawValue) ? .giveUp : .change
        #expect(failure?.remedy == remedy)
    }

    /// 429 and 401 are told apart before any code is read.
    @Test func tooManyRequestsIsAMoment() async throws {
        let shop = try ServerDesk { _ throws(HTTPCallFailure) in
            HTTPResponse(
                .tooManyRequests,
                fields: ["Retry-After": "1767229200000"],
                body: Array(#"{"errorCode":4290000,"errorMessage":"Rate limit exceeded."}"#.utf8)
            )
        }
        let id = try #require(TransactionID("1"))
        let failure = await failure { () async throws(AppStoreFailure) in try await shop.client.transaction(id) }
        #expect(failure == .throttled(until: Timestamp(seconds: 1_767_229_200)))
        #expect(failure?.remedy == .retryAfter(Timestamp(seconds: 1_767_229_200)))
        #expect(AppleErrorCode(rawValue: 4_290_000).remedy == .retry)
    }

    @Test(arguments: [
        (4_000_099, AppStoreFailure.Remedy.change), (4_030_099, .giveUp), (4_040_099, .giveUp), (4_290_001, .retry),
        (5_000_099, .retry), (5_030_000, .retry), (7, .change),
    ])
    func anUnknownCodeIsJudgedByItsStatus(code: Int, remedy: AppStoreFailure.Remedy) {
        #expect(AppleErrorCode(rawValue: code).remedy == remedy)
        #expect(AppleErrorCode(rawValue: code).name == nil)
        #expect(AppleErrorCode(rawValue: code).description == "\(code)")
    }

    struct Row: Sendable {
        let response: HTTPResponse
        let failure: AppStoreFailure?

        init(_ status: HTTPStatus, _ body: String, _ failure: AppStoreFailure?) {
            response = HTTPResponse(status, body: Array(body.utf8))
            self.failure = failure
        }
    }

    @Test(arguments: [
        Row(.ok, "<html>", .unreadable(.page, .ok)), Row(.ok, "", .unreadable(.empty, .ok)),
        Row(.ok, #"{"signedTransactionInfo":"ey"#, .unreadable(.json, .ok)),
        Row(.ok, "{}", .unreadable(.shape, .ok)),
        Row(.ok, #"{"signedTransactionInfo":5}"#, .untrusted(.onlyAnID, detail: nil)),
        Row(.serviceUnavailable, "<html>", .unavailable(.serviceUnavailable)),
        Row(.internalServerError, #"{"errorCode":5000001}"#, .refused(AppleErrorCode(rawValue: 5_000_001))),
        Row(.badRequest, "", .unexpected(.badRequest)), Row(.forbidden, "<html>", .unexpected(.forbidden)),
        Row(HTTPStatus(rawValue: 302), "", .unexpected(HTTPStatus(rawValue: 302))),
        Row(.notFound, #"{"errorMessage":"x"}"#, .unexpected(.notFound)),
    ])
    func whatIsNoAnswerOfTheAPIIsTyped(row: Row) async throws {
        let shop = try ServerDesk { _ throws(HTTPCallFailure) in row.response }
        let id = try #require(TransactionID("1"))
        let failure = await failure { () async throws(AppStoreFailure) in try await shop.client.transaction(id) }
        if case .untrusted? = failure, case .untrusted = row.failure { return }
        #expect(failure == row.failure)
        #expect(shop.desk.log.calls.count == 1)
    }

    /// What Apple answers by a status alone, nobody else's page says; what it may add one day is taken.
    @Test(arguments: [
        Row(.ok, "<html>Welcome</html>", .unreadable(.page, .ok)), Row(.ok, "OK", .unreadable(.json, .ok)),
        Row(.ok, #"{"half":"#, .unreadable(.json, .ok)), Row(.noContent, "", .unreadable(.status, .noContent)),
        Row(.accepted, "", .unreadable(.status, .accepted)), Row(.ok, "", nil), Row(.ok, " \r\n", nil),
        Row(.ok, #"{"more":[1]}"#, nil),
    ])
    func aYesWithoutABodyIsApplesOwn(row: Row) async throws {
        let shop = try ServerDesk { _ throws(HTTPCallFailure) in row.response }
        let id = try #require(TransactionID("1"))
        let told = await failure { () async throws(AppStoreFailure) in
            try await shop.client.setAccountToken(AccountToken(high: 1, low: 2), ofOriginal: id, in: .production)
        }
        let finished = await failure { () async throws(AppStoreFailure) in
            try await shop.client.finish(id, in: .production)
        }
        #expect(told == row.failure && finished == row.failure)
        #expect(told.map { $0.remedy == .retry } ?? true)
    }

    @Test(arguments: [
        Row(.accepted, "<html>Welcome</html>", .unreadable(.page, .accepted)),
        Row(.ok, "<html>Welcome</html>", .unreadable(.status, .ok)), Row(.ok, "", .unreadable(.status, .ok)),
        Row(.accepted, "", nil),
    ])
    func consumptionIsTakenWith202Alone(row: Row) async throws {
        let shop = try ServerDesk { _ throws(HTTPCallFailure) in row.response }
        let id = try #require(TransactionID("1"))
        let news = try #require(
            ConsumptionInformation(customerConsented: true, sampleContentProvided: false, deliveryStatus: .delivered)
        )
        let first = try #require(
            FirstConsumptionInformation(customerConsented: true, sampleContentProvided: true, deliveryStatus: 0)
        )
        let told = await failure { () async throws(AppStoreFailure) in
            try await shop.client.sendConsumption(news, of: id, in: .production)
        }
        let toldFirst = await failure { () async throws(AppStoreFailure) in
            try await shop.client.sendConsumption(first, of: id, in: .production)
        }
        #expect(told == row.failure && toldFirst == row.failure)
    }

    /// Who was cut off has heard nothing: it may ask again, and the others' calls go on.
    @Test func whatWeCutOffIsAskedAgainAndSpeaksAgainstNobody() async throws {
        let shop = try ServerDesk { _ throws(HTTPCallFailure) in throw .cancelled }
        let id = try #require(TransactionID("1"))
        for _ in 0..<20 {
            let failure = await failure { () async throws(AppStoreFailure) in try await shop.client.transaction(id) }
            #expect(failure == .unreachable(.cancelled) && failure?.remedy == .retry)
        }
        #expect(!shop.client.isResting(in: .production))
    }

    @Test(arguments: [HTTPCallFailure.timedOut, .tls, .unresolved, .tooLarge])
    func whatNeverAnsweredIsUnreachable(reason: HTTPCallFailure) async throws {
        let shop = try ServerDesk { _ throws(HTTPCallFailure) in throw reason }
        let id = try #require(TransactionID("1"))
        let failure = await failure { () async throws(AppStoreFailure) in try await shop.client.transaction(id) }
        #expect(failure == .unreachable(reason) && failure?.remedy == .retry)
    }
}
