import Encoding
import HTTP
import PurchaseModel
import Simulator
import TestSupport
import Testing

/// What each endpoint answers when all is well.
@Suite struct ServerAPIAnswerTests {
    @Test func statusesTellEachLineOnce() async throws {
        let shop = try Shop()
        let month = try shop.buy("month")
        let trial = try shop.buy("trial")
        let answer = try await shop.object(.get, "/inApps/v1/subscriptions/\(month)")
        #expect(answer.names == ["environment", "bundleId", "data"])
        #expect(answer["environment"]?.string == "Sandbox")
        let groups = try #require(answer["data"]?.array).compactMap(\.object)
        #expect(groups.map { $0["subscriptionGroupIdentifier"]?.string } == [Shop.group, "30000001"])
        let lines = groups.compactMap { $0["lastTransactions"]?.array?[0]?.object }
        #expect(lines.map { $0["originalTransactionId"]?.string } == [month.description, trial.description])
        #expect(lines.map { $0["status"]?.int64 } == [1, 1])
        let renewal = try lines[0].payload("signedRenewalInfo")
        #expect(renewal["autoRenewProductId"]?.string == "month")
        #expect(try lines[1].payload("signedTransactionInfo")["offerPeriod"]?.string == "P1W")
    }

    @Test func statusesCanBeChosen() async throws {
        let shop = try Shop()
        let id = try shop.buy("month")
        _ = try shop.simulator.perform(.setAutoRenew(shop.subscription(), isOn: false))
        shop.pass(.seconds(3_600))
        let path = "/inApps/v1/subscriptions/\(id)"
        for (query, count) in [("status=2", 1), ("status=1", 0), ("status=1&status=2", 1), ("", 1)] {
            #expect(try await shop.object(.get, path, query: query)["data"]?.array?.count == count)
        }
    }

    @Test func productionNamesTheApp() async throws {
        let shop = try Shop()
        let id = try shop.buy("month", by: "berta")
        for path in ["/inApps/v1/subscriptions/\(id)", "/inApps/v2/history/\(id)"] {
            let answer = try await shop.object(.get, path, in: .production)
            #expect(answer["appAppleId"]?.int64 == 1_234_567_890)
            #expect(answer["environment"]?.string == "Production")
        }
    }

    @Test func aCustomerWithoutPurchasesHasEmptyLists() async throws {
        let shop = try Shop()
        _ = try shop.simulator.perform(.rescindConsent(customer: "anna", app: Shop.bundleID))
        let number = try #require(shop.simulator.read { $0.customers["anna"]?.downloads[Shop.bundleID] })
            .appTransactionID
        let history = try await shop.object(.get, "/inApps/v2/history/\(number)")
        #expect(history.names == ["revision", "hasMore", "bundleId", "environment", "signedTransactions"])
        #expect(history["revision"]?.string == "0")
        #expect(history["signedTransactions"]?.array?.isEmpty == true)
        #expect(try await shop.object(.get, "/inApps/v1/subscriptions/\(number)")["data"]?.array?.isEmpty == true)
        let refunds = try await shop.object(.get, "/inApps/v2/refund/lookup/\(number)")
        #expect(refunds.names == ["hasMore", "revision", "signedTransactions"])
    }

    @Test func aTransactionIsToldByItsId() async throws {
        let shop = try Shop()
        let id = try shop.buy("coins")
        _ = try shop.simulator.perform(.finish(id))
        shop.pass(.seconds(60))
        let answer = try await shop.object(.get, "/inApps/v1/transactions/\(id)")
        #expect(answer.names == ["signedTransactionInfo"])
        let payload = try answer.payload("signedTransactionInfo")
        #expect(payload["transactionId"]?.string == id.description)
        #expect(payload["signedDate"]?.int64 == TestAuthority.moment.milliseconds + 60_000)
        #expect(payload["purchaseDate"]?.int64 == TestAuthority.moment.milliseconds)
    }

    @Test(arguments: [StoreEnvironment.sandbox, .production])
    func anAppTransactionIsToldByAnyId(environment: StoreEnvironment) async throws {
        let shop = try Shop()
        let id = try shop.buy("coins", by: environment == .sandbox ? "anna" : "berta")
        let answer = try await shop.object(.get, "/inApps/v1/transactions/appTransactions/\(id)", in: environment)
        let payload = try answer.payload("signedAppTransactionInfo")
        let isProduction = environment == .production
        #expect(payload["receiptType"]?.string == (isProduction ? "Production" : "Sandbox"))
        #expect((payload["appAppleId"] != nil) == isProduction)
        #expect((payload["versionExternalIdentifier"] != nil) == isProduction)
        #expect(payload["originalApplicationVersion"]?.string == (isProduction ? "1" : "1.0"))
        #expect(payload["originalPlatform"]?.string == "iOS")
        let number = try #require(payload["appTransactionId"]?.string)
        let again = try await shop.object(.get, "/inApps/v1/transactions/appTransactions/\(number)", in: environment)
        #expect(again.names == ["signedAppTransactionInfo"])
    }

    @Test func anAccountTokenStandsInWhatIsSignedLater() async throws {
        let shop = try Shop()
        let id = try shop.buy("month")
        let body = #"{"appAccountToken":"7B1F0A52-6C0E-4D7C-9D7A-3A0A2F5C9E11"}"#
        let response = try await shop.call(.put, "/inApps/v1/transactions/\(id)/appAccountToken", body: body)
        #expect(response == HTTPResponse(.ok))
        shop.pass(.seconds(301))
        let history = try await shop.object(.get, "/inApps/v2/history/\(id)")
        let tokens = try history.payloads("signedTransactions").map { $0["appAccountToken"]?.string }
        #expect(tokens == ["7b1f0a52-6c0e-4d7c-9d7a-3a0a2f5c9e11", "7b1f0a52-6c0e-4d7c-9d7a-3a0a2f5c9e11"])
    }

    @Test func finishingTwiceIsFine() async throws {
        let shop = try Shop()
        let id = try shop.buy("coins")
        for _ in 0..<2 {
            #expect(try await shop.call(.post, "/inApps/v1/transactions/\(id)/finish") == HTTPResponse(.ok))
        }
        #expect(shop.simulator.read { $0.transactions[id]?.isFinished } == true)
        #expect(try await shop.object(.get, "/inApps/v1/history/\(id)")["signedTransactions"]?.array?.count == 0)
        #expect(try await shop.object(.get, "/inApps/v2/history/\(id)")["signedTransactions"]?.array?.count == 1)
        try shop.refund(id)
        #expect(try await shop.object(.get, "/inApps/v1/history/\(id)")["signedTransactions"]?.array?.count == 1)
    }

    @Test func anOrderIsLookedUpInProduction() async throws {
        let shop = try Shop()
        let bertas = try shop.buy("coins", by: "berta")
        let order = try #require(shop.simulator.read { $0.transactions[bertas]?.orderID })
        let answer = try await shop.object(.get, "/inApps/v1/lookup/\(order)", in: .production)
        #expect(answer["status"]?.int64 == 0)
        #expect(try answer.payloads("signedTransactions").map { $0["transactionId"]?.string } == [bertas.description])
        for environment in [StoreEnvironment.sandbox, .production] {
            let name = environment == .sandbox ? order : "MNOBODY"
            let answer = try await shop.object(.get, "/inApps/v1/lookup/\(name)", in: environment)
            #expect(answer.names == ["status"])
            #expect(answer["status"]?.int64 == 1)
        }
    }

    @Test func groupsArePlaceholders() async throws {
        let shop = try Shop()
        let id = try shop.buy("coins")
        let groups = try await shop.object(.get, "/groups/v1/currentGroups/\(id)")
        let group = try #require(groups["groups"]?.array?[0]?.object?["groupId"]?.string)
        let answer = try await shop.object(.get, "/groups/v1/group/\(group)", query: "limit=100")
        #expect(answer["members"]?.array?[0]?.object?["appTransactionId"]?.string == "700000000000000000")
        let token = try #require(answer["paginationToken"]?.string)
        _ = try await shop.object(.get, "/groups/v1/group/\(group)", query: "paginationToken=\(token)")
    }

    @Test func whatIsNotSimulatedSaysSo() async throws {
        let shop = try Shop()
        for (method, path) in [
            (HTTPMethod.get, "/inApps/v1/messaging/image/list"),
            (.put, "/inApps/v1/messaging/default/month/en-US"),
            (.post, "/advancedCommerce/v1/subscription/cancel/1"),
        ] {
            #expect(try await shop.code(method, path) == 5_010_000)
        }
    }

    @Test func aFaultComesFirst() async throws {
        var options = ServerAPI.Options()
        options.fault = { $0.path.utf8.count > 30 ? .generalInternalRetryable : nil }
        let shop = try Shop(options)
        #expect(try await shop.code(.get, "/inApps/v1/transactions/1234567890123") == 5_000_001)
        #expect(try await shop.code(.get, "/inApps/v1/lookup/!") == 4_000_000)
    }

    @Test func everyErrorHasItsSentence() {
        for error in ServerAPIError.allCases {
            #expect(!error.message.isEmpty)
            #expect((400...501).contains(error.status.rawValue))
        }
    }
}
