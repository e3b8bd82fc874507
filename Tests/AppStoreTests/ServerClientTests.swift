import AppStore
import AppleFormats
import HTTP
import PurchaseModel
import Simulator
import Synchronization
import Testing
import Verification

/// Each endpoint, asked of the simulated store; what comes back is proved.
@Suite struct ServerClientTests {
    private static let uuid = "7b1f0a52-6c0e-4d7c-9d7a-3a0a2f5c9e11"

    @Test func aTransactionIsFoundWhereItIs() async throws {
        let shop = try ServerDesk()
        let (real, trial) = (try shop.desk.buy("sword"), try shop.desk.buy("coins.100", by: "tester"))
        let found = try await shop.client.transaction(real.id)
        #expect(found.store == .production && found.value.fact.transactions.map(\.id) == [real.id])
        #expect(found.value.provenance.vouchedBy == .addedRoot)
        #expect(shop.paths == ["/production/inApps/v1/transactions/\(real.id)"])
        let tested = try await shop.client.transaction(trial.id)
        #expect(tested.store == .sandbox && tested.value.fact.claims.environment == .sandbox)
        #expect(shop.paths.count == 3)
        let nobody = try #require(TransactionID("999999999999999"))
        #expect(
            await failure { () async throws(AppStoreFailure) in try await shop.client.transaction(nobody) }
                == .refused(.transactionNotFound)
        )
        #expect(shop.paths.count == 5)
        #expect(
            await failure { () async throws(AppStoreFailure) in
                try await shop.client.transaction(trial.id, in: .production)
            } == .refused(.transactionNotFound)
        )
    }

    /// Anything but *not found* says nothing about the other store.
    @Test(arguments: ServerAPIError.allCases.filter { $0 != .transactionNotFound })
    func noOtherFailureLeadsToTheSandbox(error: ServerAPIError) async throws {
        let shop = try ServerDesk()
        shop.fault.set(error)
        let id = try #require(TransactionID("1"))
        let failure = await failure { () async throws(AppStoreFailure) in try await shop.client.transaction(id) }
        #expect(shop.paths == ["/production/inApps/v1/transactions/1"])
        guard error != .rateLimitExceeded else { return }
        #expect(failure == .refused(AppleErrorCode(rawValue: error.rawValue)))
    }

    /// An app without a release gets 401 from production. What its testers buy is found, also once the key rests for it; what is
    /// not stays undecided.
    @Test func whatAnUnreleasedAppSoldIsFoundInTheSandbox() async throws {
        let shop = try ServerDesk(instead: { call throws(HTTPCallFailure) in
            call.url.contains("/production/") ? HTTPResponse(.unauthorized) : nil
        })
        let trial = try shop.desk.buy("coins.100", by: "tester")
        let nobody = try #require(TransactionID("999999999999999"))
        var failures: [AppStoreFailure?] = []
        for _ in 0..<5 {
            let found = try await shop.client.transaction(trial.id)
            #expect(found.store == .sandbox && found.value.fact.claims.environment == .sandbox)
            failures.append(
                await failure { () async throws(AppStoreFailure) in try await shop.client.transaction(nobody) }
            )
        }
        #expect(failures.first == .unauthorized && !failures.contains(.refused(.transactionNotFound)))
        guard case .resting = failures.last else { throw AppleDesk.DeskFault.unexpected("\(failures)") }
        #expect(shop.paths.count { $0.hasPrefix("/production") } == 3)
    }

    /// The sandbox is asked again when it says to, though production's key rests for longer.
    @Test(arguments: [HTTPStatus.tooManyRequests, .serviceUnavailable])
    func whenTheSandboxSaysToComeLaterThatCounts(status: HTTPStatus) async throws {
        let shop = try ServerDesk(instead: { call throws(HTTPCallFailure) in
            HTTPResponse(call.url.contains("/production/") ? .unauthorized : status)
        })
        let id = try #require(TransactionID("1"))
        let failure = await failure { () async throws(AppStoreFailure) in try await shop.client.transaction(id) }
        if case .throttled = failure, status == .tooManyRequests { return }
        #expect(failure == .unavailable(status))
    }

    @Test func aHistoryIsReadPageByPageAndOnlyForNewsLater() async throws {
        let shop = try ServerDesk()
        var bought: [TransactionID] = []
        for _ in 0..<47 { bought.append(try shop.desk.buy("coins.100").id) }
        let id = try #require(bought.first)
        var pages: [HistoryPage] = []
        for try await page in shop.client.history(ofAny: id) { pages.append(page) }
        #expect(pages.map(\.transactions.count) == [20, 20, 7])
        #expect(pages.flatMap(\.transactions).flatMap(\.fact.transactions).map(\.id) == bought)
        #expect(pages.allSatisfy { $0.store == .production })
        let revision = try #require(pages.last?.revision)
        let news = try shop.desk.buy("sword")
        let page = try await shop.client.historyPage(ofAny: id, after: revision, in: .production)
        #expect(page.transactions.flatMap(\.fact.transactions).map(\.id) == [news.id] && !page.hasMore)
    }

    @Test func aHistoryIsNarrowed() async throws {
        let shop = try ServerDesk()
        let coins = try shop.desk.buy("coins.100")
        _ = try shop.desk.buy("pro.yearly")
        var query = HistoryQuery()
        query.productTypes = [.consumable, .nonRenewable]
        query.startDate = AppleDesk.start.milliseconds
        query.endDate = AppleDesk.start.milliseconds + 1
        query.revoked = false
        query.isDescending = true
        query.ownership = .purchased
        let page = try await shop.client.historyPage(ofAny: coins.id, matching: query)
        #expect(page.transactions.flatMap(\.fact.transactions).map(\.id) == [coins.id])
        query.subscriptionGroups = ["1"]
        query.productIDs = ["a b&c"]
        let odd = query
        #expect(
            await failure { () async throws(AppStoreFailure) in
                try await shop.client.historyPage(ofAny: coins.id, matching: odd)
            } == .refused(AppleErrorCode(rawValue: 4_000_023))
        )
        let url = try #require(shop.desk.log.urls.last)
        #expect(url.contains("productType=CONSUMABLE&productType=NON_RENEWABLE&subscriptionGroupIdentifier=1"))
        #expect(url.contains("productId=a%20b%26c") && url.hasSuffix("&revoked=false&sort=DESCENDING"))
    }

    @Test func statusesPairTransactionsWithRenewals() async throws {
        let shop = try ServerDesk()
        let yearly = try shop.desk.buy("pro.yearly", by: "tester")
        let found = try await shop.client.statuses(ofAny: yearly.id)
        let status = try #require(found.value.first)
        #expect(found.store == .sandbox && found.value.count == 1)
        #expect(status.status == .active && status.group == DemoCatalogue.group)
        #expect(status.transaction.fact.transactions.map(\.id) == [yearly.id])
        #expect(status.renewal.fact.claims.renewal?.originalID == yearly.id)
        #expect(status.renewal.fact.claims.renewal?.willAutoRenew == true)
        #expect(try await shop.client.statuses(ofAny: yearly.id, only: [.expired, .revoked]).value.isEmpty)
    }

    @Test func refundsAreListed() async throws {
        let shop = try ServerDesk()
        let sold = try shop.desk.buy("sword")
        _ = try shop.desk.simulator.perform(.decideRefund(sold.id, .full))
        var refunded: [Transaction] = []
        for try await page in shop.client.refunds(ofAny: sold.id) {
            refunded += page.transactions.flatMap(\.fact.transactions)
        }
        #expect(refunded.map(\.id) == [sold.id] && refunded.first?.revocation != nil)
    }

    @Test func anOrderIsLookedUp() async throws {
        let shop = try ServerDesk()
        let sold = try shop.desk.buy("sword")
        let order = try #require(shop.desk.simulator.read { $0.transactions[sold.id]?.orderID })
        #expect(try await shop.client.order(order).flatMap(\.fact.transactions).map(\.id) == [sold.id])
        #expect(try await shop.client.order("MNOBODY").isEmpty)
        for text in ["", "a b", String(repeating: "M", count: 65), "M\u{E9}"] {
            #expect(
                await failure { () async throws(AppStoreFailure) in try await shop.client.order(text) }
                    == .invalidRequest(field: "order")
            )
        }
        #expect(shop.paths.count == 2)
    }

    @Test func anAppTransactionATokenAndAnEnd() async throws {
        let shop = try ServerDesk()
        let sold = try shop.desk.buy("coins.100")
        let download = try await shop.client.appTransaction(ofAny: sold.id)
        #expect(download.value.fact.format == .jwsAppTransaction && download.value.fact.claims.download != nil)
        let token = try #require(AccountToken(uuid: Self.uuid))
        try await shop.client.setAccountToken(token, ofOriginal: sold.id, in: .production)
        let told = try await shop.client.transaction(sold.id).value
        #expect(told.fact.transactions.first?.accountToken == token)
        try await shop.client.finish(sold.id, in: .production)
        #expect(shop.desk.simulator.read { $0.transactions[sold.id]?.isFinished } == true)
    }

    @Test func consumptionIsToldInBothForms() async throws {
        let shop = try ServerDesk()
        let sold = try shop.desk.buy("coins.100")
        var news = try #require(
            ConsumptionInformation(customerConsented: true, sampleContentProvided: false, deliveryStatus: .delivered)
        )
        news.consumptionPercentage = 50_000
        news.refundPreference = .grantProrated
        try await shop.client.sendConsumption(news, of: sold.id, in: .production)
        var first = try #require(
            FirstConsumptionInformation(customerConsented: true, sampleContentProvided: true, deliveryStatus: 0)
        )
        first.appAccountToken = Self.uuid
        first.refundPreference = 2
        try await shop.client.sendConsumption(first, of: sold.id, in: .production)
        news.consumptionPercentage = 100_001
        await #expect(throws: AppStoreFailure.invalidRequest(field: "consumptionPercentage")) {
            try await shop.client.sendConsumption(news, of: sold.id, in: .production)
        }
        news.consumptionPercentage = 1
        news.deliveryStatus = .serverOutage
        await #expect(throws: AppStoreFailure.invalidRequest(field: "consumptionPercentage")) {
            try await shop.client.sendConsumption(news, of: sold.id, in: .production)
        }
        #expect(shop.paths.count == 2)
        #expect(
            ConsumptionInformation(customerConsented: false, sampleContentProvided: true, deliveryStatus: .other) == nil
        )
        #expect(
            FirstConsumptionInformation(customerConsented: false, sampleContentProvided: true, deliveryStatus: 0) == nil
        )
    }

    @Test func renewalsArePutOff() async throws {
        let shop = try ServerDesk()
        let sold = try shop.desk.buy("pro.yearly")
        let terms = RenewalExtension(days: 7, reason: .serviceIssue, requestIdentifier: Self.uuid)
        let answer = try await shop.client.extend(terms, original: sold.id, in: .production)
        #expect(answer.success && answer.originalTransactionID == sold.id.description)
        let end = try #require(sold.fact.expiresAt)
        #expect(answer.effectiveDate == end.advanced(by: .seconds(7 * 86_400)).milliseconds)
        let product = sold.fact.product
        let mass = try await shop.client.extendAll(terms, of: product, storefronts: ["USA"], in: .production)
        #expect(mass.requestIdentifier == Self.uuid && mass.isComplete == nil)
        #expect(try await shop.client.extensionStatus(Self.uuid, of: product, in: .production).isComplete == false)
        shop.desk.pass(days: 10)
        let status = try await shop.client.extensionStatus(Self.uuid, of: product, in: .production)
        #expect(status.isComplete == true && status.succeededCount != nil)
        for (days, identifier, field) in [
            (0, "a", "extendByDays"), (91, "a", "extendByDays"), (1, "", "requestIdentifier"),
        ] {
            let wrong = RenewalExtension(days: days, reason: .other, requestIdentifier: identifier)
            await #expect(throws: AppStoreFailure.invalidRequest(field: field)) {
                try await shop.client.extend(wrong, original: sold.id, in: .production)
            }
        }
        await #expect(throws: AppStoreFailure.invalidRequest(field: "storefrontCountryCodes")) {
            try await shop.client.extendAll(terms, of: product, storefronts: [], in: .production)
        }
    }

    @Test func notificationsAreReadAndTested() async throws {
        let shop = try ServerDesk()
        for _ in 0..<23 { try shop.desk.buy("coins.100") }
        let token = try await shop.client.requestTestNotification(in: .production)
        #expect(
            await failure { () async throws(AppStoreFailure) in
                try await shop.client.testNotification(token, in: .production)
            }?.remedy == .retry
        )
        await shop.sender.deliverDue()
        let test = try await shop.client.testNotification(token, in: .production)
        #expect(test.proof.fact.claims.notice?.type == "TEST" && test.attempts.first?.result == .success)
        let start = AppleDesk.start.milliseconds
        var request = NotificationHistoryRequest(startDate: start - 1_000, endDate: start + 86_400_000)
        request.onlyFailures = false
        var records: [NotificationRecord] = []
        var sizes: [Int] = []
        for try await page in shop.client.notifications(request, in: .production) {
            records += page.records
            sizes.append(page.records.count)
            #expect(page.unproved.isEmpty)
        }
        #expect(sizes == [20, 4])
        #expect(Set(records.compactMap(\.proof.fact.claims.notice?.uuid)).count == 24)
        request.notificationType = "TEST"
        #expect(try await shop.client.notificationPage(request, in: .production).records.count == 1)
        let backwards = NotificationHistoryRequest(startDate: 5, endDate: 5)
        #expect(
            await failure { () async throws(AppStoreFailure) in
                try await shop.client.notificationPage(backwards, in: .production)
            } == .invalidRequest(field: "startDate")
        )
    }

    @Test func aListingWithoutAnEndIsNotTakenForTheWhole() async throws {
        let count = Mutex(0)
        let shop = try ServerDesk { call throws(HTTPCallFailure) -> HTTPResponse? in
            guard call.url.contains("/notifications/history") else { return nil }
            let number = count.withLock { count in
                count += 1
                return count
            }
            let page = #"{"notificationHistory":[],"hasMore":true,"paginationToken":"\#(number)"}"#
            return HTTPResponse(.ok, fields: ["Content-Type": "application/json"], body: Array(page.utf8))
        }
        let request = NotificationHistoryRequest(startDate: 0, endDate: AppleDesk.start.milliseconds)
        var pages = shop.client.notifications(request, in: .production).makeAsyncIterator()
        var read = 0
        await #expect(throws: AppStoreFailure.unreadable(.endless, .ok)) {
            while try await pages.next() != nil {
                read += 1
                // Within the budget.
                shop.desk.clock.advance(by: .seconds(1))
            }
        }
        #expect(read == 5_000)
    }

    @Test func groupsAreRead() async throws {
        let shop = try ServerDesk()
        let sold = try shop.desk.buy("coins.100", by: "tester")
        let groups = try await shop.client.currentGroups(ofAny: sold.id, in: .sandbox)
        let group = try #require(groups.first)
        var members: [String] = []
        for try await page in shop.client.members(ofGroup: group.id, in: .sandbox) { members += page.members }
        #expect(members == ["700000000000000000"])
    }

    @Test func everyEndpointHasANameOfItsOwn() {
        #expect(Set(ServerEndpoint.all.map(\.name)).count == ServerEndpoint.all.count)
        #expect(ServerEndpoint.all.count == 18)
        #expect(Set(ServerEndpoint.all.map(\.perSecond)) == [1, 10, 20, 50])
    }
}
