import AppStore
import AppleFormats
import Encoding
import HTTP
import PurchaseModel
import Simulator
import TestSupport
import Testing
import Verification

/// Whatever an answer says of itself: what does not verify for this app and store does not leave.
@Suite struct UntrustedAnswerTests {
    private static let id = TransactionID("5")

    private static func fact(_ number: String = "5", original: String = "5") throws -> Transaction {
        Transaction(
            id: try #require(TransactionID(number)),
            originalID: TransactionID(original),
            product: DemoCatalogue.product("pro.yearly"),
            kind: .autoRenewable,
            purchasedAt: AppleDesk.start,
            signedAt: AppleDesk.start
        )
    }

    private static func signer(
        _ bundleID: BundleID = AppleDesk.bundleID,
        _ environment: StoreEnvironment = .production
    ) -> PurchaseSigner {
        let app = SimulatedApp(bundleID: bundleID, version: "1", environment: environment)
        return PurchaseSigner(TestAuthority.shared, app: app)
    }

    private static func renewal(_ original: String = "5") throws -> String {
        let id = try #require(TransactionID(original))
        let product = DemoCatalogue.product("pro.yearly")
        var renewal = Renewal(originalID: id, product: product, signedAt: AppleDesk.start)
        renewal.environment = .production
        return try signer().renewal(renewal)
    }

    private static func shop(answering body: [UInt8]) throws -> ServerDesk {
        try ServerDesk { _ throws(HTTPCallFailure) in HTTPResponse(.ok, body: body) }
    }

    private static func history(_ texts: [String], more: String = "") -> [UInt8] {
        Array(
            #"{"revision":"r","hasMore":false,"signedTransactions":["\#(texts.joined(separator: "\",\""))"]\#(more)}"#
                .utf8
        )
    }

    @Test func oneBadSignatureAmongGoodOnesFailsThePage() async throws {
        let good = try Self.signer().transaction(Self.fact())
        let cut = good.dropLast(4) + "AAAA"
        let rows: [(String, Reason)] = [
            (String(cut), .signature),
            (try Self.signer(BundleID(checked: "com.example.other")).transaction(Self.fact()), .foreignBundleID),
            (try Self.signer(AppleDesk.bundleID, .sandbox).transaction(Self.fact()), .environmentNotAccepted),
            (try Self.renewal(), .nestedMismatch), ("5", .onlyAnID), ("", .empty), ("e30.e30.e30", .unrecognised),
        ]
        for (text, reason) in rows {
            let shop = try Self.shop(answering: Self.history([good, text]))
            let id = try #require(Self.id)
            let failure = await failure { () async throws(AppStoreFailure) in
                try await shop.client.historyPage(ofAny: id, in: .production)
            }
            guard case .untrusted(let found, _)? = failure else {
                Issue.record("\(reason): \(String(describing: failure))")
                continue
            }
            #expect(found == reason)
            #expect(failure?.remedy == .retry)
            let told = shop.desk.log.events.contains { if case .untrusted(_, reason) = $0 { true } else { false } }
            #expect(told)
        }
    }

    @Test func whoDoesNotTrustTheSimulatorTakesNothingFromIt() async throws {
        let shop = try ServerDesk()
        let sold = try shop.desk.buy("sword")
        var app = shop.client.app
        app.appleID = nil
        let api = try ServerAPI(shop.desk.simulator, sent: .none)
        let client = AppStoreServerClient(
            app: app,
            line: shop.desk.line(Router(api.routes).handler),
            verifier: Verifier(anchors: try .apple()),
            hosts: .simulator(at: AppleDesk.base)
        )
        let failure = await failure { () async throws(AppStoreFailure) in try await client.transaction(sold.id) }
        guard case .untrusted(.untrustedRoot, _)? = failure else {
            throw AppleDesk.DeskFault.unexpected("\(String(describing: failure))")
        }
    }

    @Test func aRenewalMustBelongToItsTransaction() async throws {
        let fact = try Self.signer().transaction(Self.fact())
        for (original, isRight) in [("5", true), ("6", false)] {
            let text = try Self.renewal(original)
            let body =
                #"{"data":[{"subscriptionGroupIdentifier":"1","lastTransactions":[{"status":1,"#
                + #""signedTransactionInfo":"\#(fact)","signedRenewalInfo":"\#(text)"}]}],"new":{"a":1}}"#
            let shop = try Self.shop(answering: Array(body.utf8))
            let id = try #require(Self.id)
            let failure = await failure { () async throws(AppStoreFailure) in
                try await shop.client.statuses(ofAny: id, in: .production)
            }
            #expect(
                failure == (isRight ? nil : .untrusted(.nestedMismatch, detail: "a renewal of another subscription"))
            )
        }
    }

    @Test func aListingThatDoesNotMoveOnEnds() async throws {
        let good = try Self.signer().transaction(Self.fact())
        let body = #"{"revision":"r","hasMore":true,"signedTransactions":["\#(good)"]}"#
        let shop = try Self.shop(answering: Array(body.utf8))
        let id = try #require(Self.id)
        var pages = 0
        let failure = await failure { () async throws(AppStoreFailure) in
            for try await _ in shop.client.history(ofAny: id, in: .production) { pages += 1 }
        }
        #expect(failure == .unreadable(.shape, .ok))
        #expect(shop.desk.log.calls.count == 2 && pages == 1)
    }

    @Test func aNotificationThatDoesNotVerifyHidesNoOther() async throws {
        let notice = try ServerDesk()
        try notice.desk.buy("coins.100")
        await notice.sender.deliverDue()
        let sent = try #require(notice.sender.sentNotices.all(AppleDesk.bundleID, .production).first)
        let body =
            #"{"notificationHistory":[{"signedPayload":"a.b.c"},{"signedPayload":"\#(sent.signedPayload)","#
            + #""sendAttempts":[{"attemptDate":5,"sendAttemptResult":"NEW"}]}],"hasMore":false}"#
        let shop = try Self.shop(answering: Array(body.utf8))
        let request = NotificationHistoryRequest(startDate: 1, endDate: 2)
        let page = try await shop.client.notificationPage(request, in: .production)
        #expect(page.unproved == ["a.b.c"] && page.records.count == 1)
        #expect(page.records.first?.attempts.first?.result?.rawValue == "NEW")
    }
}
