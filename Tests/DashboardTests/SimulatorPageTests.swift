import Crypto
import Dashboard
import HTTP
import Pipeline
import PurchaseModel
import Simulator
import Storage
import Testing
import TestSupport

/// What people have happen in a demo's App Store, with the simulator itself behind it.
@Suite struct SimulatorPageTests {
    private static let page = "/dashboard/simulator"

    private static func open() -> (desk: Desk, simulator: AppStoreSimulator) {
        let clock = ManualClock(Timestamp(milliseconds: 1_800_000_000_000))
        var store = SimulatedStore(startingAt: clock.now, seed: 1)
        store.set(DemoCatalogue.app())
        let simulator = AppStoreSimulator(store, authority: TestAuthority.shared, wallClock: clock)
        let chaos = ChaosRun(simulator) { _ in }
        let router = Router(
            ControlAPI(simulator).routes() + SettingEndpoints(simulator, chaos: chaos, sent: .none).routes()
        )
        let line = SimulatorLine { method, path, body in
            await router.respond(to: HTTPRequest(method: method, path: "/simulator/v1" + path, body: body))
        }
        return (Desk { _, _ in RunningServer(simulator: line) }, simulator)
    }

    private static func customer(_ number: Int) -> StoreCustomer {
        StoreCustomer(name: "<script>\(number)" + String(repeating: "<", count: 150), environment: .production)
    }

    private static func act(_ browser: Browser, _ fields: [(String, String)]) async -> HTTPResponse {
        await browser.press(await browser.get(page), page + "/act", fields)
    }

    @Test func aCustomerBuysRenewsAndGetsTheMoneyBack() async throws {
        let (desk, simulator) = Self.open()
        let browser = try await desk.browser(.operator)
        let product = "\(DemoCatalogue.bundleID.text).pro.monthly"
        let form = Browser.fields(await browser.get(Self.page), of: Self.page + "/act")
        let fields = form + [("customer", "anna"), ("act", "buy"), ("product", product)]
        #expect(await browser.post(Self.page + "/act", fields).text.contains("It was done."))
        #expect(simulator.read { $0.sales.count } == 1)
        // A second click buys nothing.
        #expect(await browser.post(Self.page + "/act", fields).status == .ok)
        #expect(simulator.read { $0.sales.count } == 1)
        for word in ["renew", "refund"] {
            let done = await Self.act(browser, [("customer", "anna"), ("act", word), ("product", "")])
            #expect(done.status == .ok && done.text.contains("It was done."), "\(word)")
        }
        let sold = simulator.read { store in store.sales.compactMap { store.transactions[$0]?.fact } }
        #expect(sold.count == 2)
        #expect(sold.map { $0.revocation != nil } == [false, true])
        let shown = await browser.get(Self.page + "?customer=anna").text
        #expect(shown.contains(product))
        #expect(try await desk.log().map(\.subject) == ["anna", "anna", "anna"])
    }

    @Test func timePasses() async throws {
        let (desk, simulator) = Self.open()
        let browser = try await desk.browser(.operator)
        let before = simulator.now
        let done = await browser.press(await browser.get(Self.page), Self.page + "/clock", [("span", "P31D")])
        #expect(done.status == .ok)
        #expect(before.duration(to: simulator.now) == .seconds(31 * 86_400))
        let bad = await browser.press(await browser.get(Self.page), Self.page + "/clock", [("span", "P9Y")])
        #expect(bad.status == .badRequest)
        #expect(try await desk.log().map(\.detail) == ["P31D"])
    }

    @Test func chaosIsSwitchedOnAndOff() async throws {
        let desk = Self.open().desk
        let browser = try await desk.browser(.operator)
        #expect(await browser.get(Self.page).text.contains("<dd><bdi>off</bdi></dd>"))
        let on = await browser.press(await browser.get(Self.page), Self.page + "/chaos")
        #expect(on.status == .ok && on.text.contains("on: it fails"))
        let off = await browser.press(on, Self.page + "/chaos")
        #expect(off.text.contains("<dd><bdi>off</bdi></dd>"))
        #expect(try await desk.log().map { $0.detail } == ["from on to off", "from off to on"])
    }

    @Test(arguments: [
        ("buy", "sword<script>alert(1)</script>"), ("refund", ""), ("renew", ""), ("revoke", ""), ("cancel", ""),
    ])
    func whatTheStoreRefusesIsSaid(word: String, product: String) async throws {
        let (desk, simulator) = Self.open()
        let browser = try await desk.browser(.operator)
        let name = "eve<script>alert(2)</script>"
        let answer = await Self.act(browser, [("customer", name), ("act", word), ("product", product)])
        #expect([.conflict, .unprocessableContent].contains(answer.status), "\(answer.status)")
        #expect(answer.text.contains("role=\"alert\"") && !answer.text.contains("<script"))
        #expect(simulator.read { $0.sales.isEmpty })
    }

    @Test(arguments: [("", "buy"), ("an\u{0}na", "buy"), ("anna", "steal")])
    func whatIsNoActIsNotTried(name: String, word: String) async throws {
        let (desk, simulator) = Self.open()
        let browser = try await desk.browser(.operator)
        #expect(await Self.act(browser, [("customer", name), ("act", word), ("product", "")]).status == .badRequest)
        #expect(simulator.read { $0.customers.isEmpty })
        #expect(try await desk.log().isEmpty)
    }

    @Test func aPageOfManyCustomersStaysSmall() async throws {
        let (desk, simulator) = Self.open()
        simulator.change { store in
            for number in 0..<500 { store.set(Self.customer(number)) }
        }
        let page = await (try await desk.browser(.operator)).get(Self.page)
        #expect(page.status == .ok && page.body.count < 100_000, "\(page.body.count)")
        #expect(!page.text.contains("<script"))
    }

    @Test func whoMaySeeMayNotAct() async throws {
        let (desk, simulator) = Self.open()
        let browser = try await desk.browser(.viewer)
        let page = await browser.get(Self.page)
        #expect(page.status == .ok && !page.text.contains("/simulator/act"))
        let fields = [
            ("form_token", Browser.formToken(in: page)), ("once", "x"), ("customer", "anna"), ("act", "buy"),
            ("product", "\(DemoCatalogue.bundleID.text).sword"), ("span", "P1D"), ("on", "true"),
        ]
        for act in ["act", "clock", "chaos"] {
            #expect(await browser.post("\(Self.page)/\(act)", fields).status == .forbidden)
        }
        #expect(simulator.read { $0.sales.isEmpty })
    }

    @Test func aServerForCustomersHasNoneOfIt() async throws {
        let desk = Desk { _, _ in RunningServer() }
        #expect(!desk.routes.contains { $0.route.template.contains("simulator") })
        let browser = try await desk.browser(.admin)
        #expect(!(await browser.get("/dashboard").text.contains("/dashboard/simulator")))
        #expect(await browser.get(Self.page).status == .notFound)
    }

    @Test func aSimulatorThatDoesNotAnswerIsSaid() async throws {
        let browser = try await Desk().browser(.operator)
        #expect(await browser.get(Self.page).status == .serviceUnavailable)
    }
}
