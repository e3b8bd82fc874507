import Encoding
import HTTP
import PurchaseModel
import Simulator
import TestSupport
import Testing

@Suite struct ServerAPINotificationTests {
    private static let path = "/inApps/v1/notifications/history"
    private static let now = TestAuthority.moment.milliseconds

    private static func body(_ more: String = "", start: Int64 = now - 1_000, end: Int64 = now + 86_400_000) -> String {
        "{\"startDate\":\(start),\"endDate\":\(end)\(more)}"
    }

    @Test func aTestNotificationCanBeFollowed() async throws {
        let shop = try Shop()
        let answer = try await shop.object(.post, "/inApps/v1/notifications/test")
        #expect(answer.names == ["testNotificationToken"])
        let path = "/inApps/v1/notifications/test/" + (try #require(answer["testNotificationToken"]?.string))
        #expect(try await shop.code(.get, path) == 4_040_008)
        shop.deliver([.tlsIssue, .success])
        let status = try await shop.object(.get, path)
        #expect(status.names == ["signedPayload", "sendAttempts"])
        let attempts = try #require(status["sendAttempts"]?.array).compactMap(\.object)
        #expect(attempts.map(\.names) == Array(repeating: ["attemptDate", "sendAttemptResult"], count: 2))
        #expect(attempts.map { $0["sendAttemptResult"]?.string } == ["TLS_ISSUE", "SUCCESS"])
        #expect(try await shop.code(.get, path, in: .production) == 4_040_008)
        shop.pass(.seconds(183 * 86_400))
        #expect(try await shop.code(.get, path) == 4_040_008)
    }

    @Test func testsNeedAnAddressAndAToken() async throws {
        let shop = try Shop()
        #expect(try await shop.code(.post, "/inApps/v1/notifications/test", in: .production) == 4_040_007)
        #expect(try await shop.code(.get, "/inApps/v1/notifications/test/x") == 4_000_020)
        // The notification of a purchase is no test.
        try shop.buy("coins")
        shop.deliver()
        let uuid = try #require(shop.simulator.read(\.notices).first?.uuid)
        #expect(try await shop.code(.get, "/inApps/v1/notifications/test/\(uuid)") == 4_040_008)
    }

    @Test(arguments: [
        ("", nil), (#","notificationType":"ONE_TIME_CHARGE""#, nil), (#","notificationType":"NOTHING""#, 4_000_018),
        (#","notificationType":1"#, 4_000_018), (#","notificationSubtype":"UPGRADE""#, 4_000_018),
        (#","notificationType":"DID_RENEW","notificationSubtype":"BILLING_RECOVERY""#, nil),
        (#","notificationType":"DID_RENEW","notificationSubtype":"UPGRADE""#, 4_000_018),
        (#","notificationType":"REFUND","notificationSubtype":"VOLUNTARY""#, 4_000_018),
        (#","transactionId":"x""#, 4_000_006), (#","transactionId":1"#, 4_000_006),
        (#","transactionId":"1""#, 4_040_010), (#","originalTransactionId":"1""#, 4_040_010),
        (#","transactionId":"1","notificationType":"REFUND""#, 4_000_019), (#","onlyFailures":1"#, 4_000_000),
        (#","onlyFailures":true"#, nil),
    ])
    func aBodyIsChecked(more: String, code: Int?) async throws {
        #expect(try await Shop().code(.post, Self.path, body: Self.body(more)) == code)
    }

    @Test(arguments: [
        ("{}", 4_000_015), (#"{"startDate":1}"#, 4_000_016), (#"{"startDate":"1","endDate":2}"#, 4_000_015),
        (#"{"startDate":99999999999999999999,"endDate":2}"#, 4_000_015), (#"{"startDate":1.5,"endDate":2}"#, 4_000_015),
        (body(start: now - 30 * 86_400_000), nil), (body(start: now - 30 * 86_400_000 - 1), 4_000_012),
        (body(start: now + 1, end: now + 1), 4_000_013), (body(start: now, end: now - 1), 4_000_013), ("", 4_000_000),
        (body(end: .max), nil),
    ])
    func datesAreChecked(body: String, code: Int?) async throws {
        #expect(try await Shop().code(.post, Self.path, body: body) == code)
    }

    @Test func productionRemembersHalfAYear() async throws {
        let shop = try Shop()
        for (days, code) in [(180, nil), (181, 4_000_012)] {
            let body = Self.body(start: Self.now - Int64(days) * 86_400_000)
            #expect(try await shop.code(.post, Self.path, body: body, in: .production) == code)
        }
    }

    @Test func pagesFollowTheOrderOfSendingWhileAttemptsGoOn() async throws {
        let shop = try Shop()
        for _ in 0..<45 { try shop.buy("coins") }
        shop.deliver([.noResponse])
        let body = Self.body()
        var seen: [String] = []
        var query: String?
        var sizes: [Int] = []
        for index in 0..<3 {
            let page = try await shop.object(.post, Self.path, query: query, body: body)
            #expect(page.names == ["notificationHistory", "hasMore", "paginationToken"])
            let items = try #require(page["notificationHistory"]?.array).compactMap(\.object)
            seen += items.compactMap { $0["signedPayload"]?.string }
            sizes.append(items.count)
            #expect(page["hasMore"]?.bool == (index < 2))
            query = "paginationToken=" + (try #require(page["paginationToken"]?.string))
        }
        #expect(sizes == [20, 20, 5])
        #expect(seen == (0..<45).map { "a.b.\($0)" })
        #expect(try await shop.code(.post, Self.path, query: query, body: Self.body(end: Self.now + 1)) == 4_000_014)
        #expect(try await shop.code(.post, Self.path, query: "paginationToken=x", body: body) == 4_000_014)
        shop.clock.advance(by: .seconds(86_400))
        #expect(try await shop.code(.post, Self.path, query: query, body: body) == 4_000_017)
    }

    @Test func whatWasNotTriedYetIsNotTold() async throws {
        let shop = try Shop()
        try shop.buy("coins")
        shop.deliver([])
        let page = try await shop.object(.post, Self.path, body: Self.body())
        #expect(page["notificationHistory"]?.array?.isEmpty == true)
        // What is never tried is told of here alone.
        try shop.buy("coins")
        shop.deliver([], isLost: true)
        let later = try await shop.object(.post, Self.path, body: Self.body())
        #expect(later["notificationHistory"]?.array?.count == 1)
    }

    @Test func filtersChoose() async throws {
        let shop = try Shop()
        let coins = try shop.buy("coins")
        try shop.buy("month")
        shop.deliver([.timedOut, .success])
        try shop.refund(coins)
        let other = try shop.buy("coins", by: "member")
        shop.deliver([.unsuccessfulStatus])
        for (more, count) in [
            ("", 4), (#","notificationType":"REFUND""#, 1), (#","notificationType":"ONE_TIME_CHARGE""#, 2),
            (#","notificationType":"SUBSCRIBED","notificationSubtype":"INITIAL_BUY""#, 1),
            (#","transactionId":"\#(coins)""#, 3), (#","originalTransactionId":"\#(other)""#, 1),
            (#","onlyFailures":true"#, 2), (#","onlyFailures":true,"transactionId":"\#(coins)""#, 1),
        ] {
            let page = try await shop.object(.post, Self.path, body: Self.body(more))
            #expect(page["notificationHistory"]?.array?.count == count, "\(more)")
        }
    }
}
