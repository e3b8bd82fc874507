import Crypto
import Dashboard
import HTTP
import Pipeline
import PurchaseModel
import Simulator
import Storage
import Synchronization
import Testing
import TestSupport
import Verification

/// One of Apple's notifications, and having it decided once more.
@Suite struct NotificationPageTests {
    private static let uuid = "5f1f0a64-3d0b-4d4e-9a4e-2d1bb6b2f3a1"
    private static let page = "/dashboard/notification?app=shop&side=sandbox.test&id=\(uuid)"
    private static let form = "/dashboard/notification/decide"
    private static let realm = Realm(environment: .sandbox, isTestSigned: true)

    /// A desk over a recorder that runs.
    private static func open(_ body: (Desk) async throws -> Void) async throws {
        var anchors = try TrustAnchors.apple()
        for root in try TestAuthority.shared.roots() { anchors.addRoot(try Certificate(der: root)) }
        let verifier = Verifier(anchors: anchors, bytesMax: 1 << 20)
        let made = Mutex<Recorder?>(nil)
        let policy = AppPolicy(
            id: Desk.app,
            bundleID: TestAuthority.bundleID,
            environments: [.sandbox],
            acceptsTestSigned: true
        )
        let desk = Desk(policies: [policy]) { store, clock in
            let refusals = RefusalLedger()
            let recorder = Recorder(store: store, refusals: refusals, clock: clock, uptime: { .zero }) { _ in }
            made.withLock { $0 = recorder }
            let intake = NotificationIntake(
                verifier: verifier,
                recorder: recorder,
                store: store,
                refusals: refusals,
                clock: clock
            ) { _ in }
            return RunningServer(intake: intake)
        }
        let recorder = try #require(made.withLock { $0 })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await recorder.run() }
            defer { recorder.stop() }
            try await body(desk)
        }
    }

    /// Keeps a notification as if what follows from it had been lost.
    private static func keep(_ desk: Desk, _ type: String, _ transaction: Transaction?, payload: [UInt8]? = nil)
        async throws
    {
        var notice = Notice(uuid: uuid, type: type, signedAt: desk.clock.now)
        notice.transaction = transaction
        let row = KeptNotification(
            key: NotificationKey(app: Desk.app, realm: realm, id: try #require(NotificationID(uuid))),
            version: 2,
            type: type,
            subtype: "<script>alert(1)</script>",
            transaction: transaction?.id,
            arrival: .pushed,
            signedAt: desk.clock.now,
            receivedAt: desk.clock.now,
            payload: try payload ?? TestAuthority.signer().notificationBody(notice)
        )
        _ = try await desk.store.write { write throws(StoreFailure) in try write.keepNotification(row) }
    }

    private static func bought(_ desk: Desk) throws -> Transaction {
        let id = try #require(TransactionID(number: 7_001))
        return Transaction(
            id: id,
            originalID: id,
            product: try #require(ProductID("com.example.simulated.coins")),
            kind: .consumable,
            purchasedAt: desk.clock.now,
            signedAt: desk.clock.now
        )
    }

    private static func recorded(_ desk: Desk) async throws -> Int {
        let id = try #require(TransactionID(number: 7_001))
        return try await desk.store.read { reader throws(StoreFailure) in
            try reader.transactions(app: Desk.app, id: id).count
        }
    }

    private static func events(_ desk: Desk) async throws -> Int {
        try await desk.store.read { reader throws(StoreFailure) in
            try reader.events(app: Desk.app, after: .start, where: .everything, limit: 100).events.count
        }
    }

    @Test func whatWasLostIsRecordedAndThenAllIsAsItShouldBe() async throws {
        try await Self.open { desk in
            try await Self.keep(desk, "ONE_TIME_CHARGE", try Self.bought(desk))
            let browser = try await desk.browser(.operator)
            let page = await browser.get(Self.page)
            #expect(page.status == .ok && page.text.contains("ONE_TIME_CHARGE"))
            #expect(page.text.contains("alert(1)") && !page.text.contains("<script"))
            let sent = Browser.fields(page, of: Self.form)
            let decided = await browser.post(Self.form, sent)
            #expect(decided.status == .ok && decided.text.contains("rows of the ledger changed"))
            #expect(try await Self.recorded(desk) == 1)
            let told = try await Self.events(desk)
            #expect(await browser.post(Self.form, sent).status == .ok)
            #expect(try await desk.log().count == 1)
            let again = await browser.press(await browser.get(Self.page), Self.form)
            #expect(again.text.contains("nothing changed"))
            #expect(try await Self.events(desk) == told)
            #expect(
                try await desk.log().map { [$0.action, $0.subject] }
                    == Array(repeating: ["notification_decided_again", Self.uuid], count: 2)
            )
        }
    }

    @Test func whatCarriesNoTransactionHasNothingToDecide() async throws {
        try await Self.open { desk in
            try await Self.keep(desk, "TEST", nil)
            let browser = try await desk.browser(.operator)
            let answer = await browser.press(await browser.get(Self.page), Self.form)
            #expect(answer.status == .ok && answer.text.contains("carries no transaction"))
            #expect(try await desk.log().count == 1)
        }
    }

    @Test func whatProvesNothingTodayChangesNothing() async throws {
        try await Self.open { desk in
            try await Self.keep(desk, "ONE_TIME_CHARGE", nil, payload: Array("<script>alert(2)</script>".utf8))
            let browser = try await desk.browser(.operator)
            let answer = await browser.press(await browser.get(Self.page), Self.form)
            #expect(answer.status == .unprocessableContent && answer.text.contains("Nothing was changed"))
            #expect(answer.text.contains("alert(2)") && !answer.text.contains("<script"))
            #expect(try await desk.log().isEmpty)
        }
    }

    @Test func whoMaySeeMayNotDecide() async throws {
        try await Self.open { desk in
            try await Self.keep(desk, "ONE_TIME_CHARGE", try Self.bought(desk))
            let browser = try await desk.browser(.viewer)
            let page = await browser.get(Self.page)
            #expect(page.status == .ok && !page.text.contains(Self.form))
            let fields = [
                ("form_token", Browser.formToken(in: page)), ("once", "x"), ("app", "shop"), ("side", "sandbox.test"),
                ("id", Self.uuid),
            ]
            #expect(await browser.post(Self.form, fields).status == .forbidden)
            #expect(try await Self.recorded(desk) == 0)
        }
    }

    @Test(arguments: ["app=shop&side=moon&id=x", "app=other&side=sandbox&id=x", "", "app=shop&side=sandbox&id=x"])
    func whatThereIsNotIsSaid(query: String) async throws {
        let browser = try await Desk().browser(.operator)
        #expect(await browser.get("/dashboard/notification?" + query).status == .notFound)
    }
}
