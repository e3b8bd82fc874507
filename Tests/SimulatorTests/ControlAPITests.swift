import Encoding
import HTTP
import PurchaseModel
import Simulator
import Testing
import TestSupport

/// The control API, called as its clients call it.
struct ControlAPITests {
    let simulator: AppStoreSimulator
    let router: Router
    let clock = ManualClock(StoreLife.start)

    init() {
        var store = SimulatedStore(startingAt: StoreLife.start, seed: 1)
        store.set(DemoCatalogue.app())
        simulator = AppStoreSimulator(store, authority: TestAuthority.shared, wallClock: clock)
        let chaos = ChaosRun(simulator) { _ in }
        router = Router(
            ControlAPI(simulator).routes() + SettingEndpoints(simulator, chaos: chaos, sent: .none).routes()
        )
    }

    private func call(
        _ method: HTTPMethod,
        _ path: String,
        _ body: String = "",
        query: String? = nil
    ) async throws -> (status: Int, json: JSONObject) {
        let request = HTTPRequest(
            method: method,
            path: "/simulator/v1" + path,
            query: query,
            body: Array(body.utf8)
        )
        let response = await router.respond(to: request)
        return (response.status.rawValue, try #require(JSONDocument(response.body).root.object))
    }

    @Test func aPurchaseIsMadeRenewedAndRefunded() async throws {
        #expect(try await call(.post, "/customers", #"{"name": "anna", "storefront": "DEU"}"#).status == 201)
        let buy = #"{"act": "buy", "customer": "anna", "product": "pro.weekly", "as": "first"}"#
        let bought = try await call(.post, "/acts", buy)
        #expect(bought.status == 200)
        let sold = try #require(bought.json["transactions"]?.array?[0]?.object)
        #expect(sold["storefront"]?.string == "DEU")
        #expect(sold["expires_at"]?.string == "2026-01-08T00:00:00.000Z")
        let moved = try await call(.post, "/clock", #"{"advance": "P8D"}"#)
        #expect(moved.json["now"]?.string == "2026-01-09T00:00:00.000Z")
        #expect(moved.json["next_event_at"]?.string == "2026-01-15T00:00:00.000Z")
        let refund = #"{"act": "decide_refund", "customer": "anna", "decision": "full"}"#
        #expect(try await call(.post, "/acts", refund).status == 200)
        let anna = try await call(.get, "/customers/anna")
        #expect(anna.json["transactions"]?.array?.count == 2)
        #expect(anna.json["subscriptions"]?.array?[0]?.object?["status"]?.string == "revoked")
        let notices = try await call(.get, "/notices").json["notices"]?.array?.map { $0.object?["type"]?.string }
        #expect(notices == ["SUBSCRIBED", "DID_RENEW", "REFUND"])
        #expect(try await call(.get, "/ledger").json["transactions"]?.array?.count == 2)
        #expect(try await call(.get, "/ledger", query: "after=1").json["transactions"]?.array?.count == 1)
    }

    /// By number a purchase of production would come before those of the sandbox, and shift the pages after it.
    @Test func theLedgerIsInTheOrderOfItsMaking() async throws {
        _ = try await call(.post, "/customers", #"{"name": "tester", "environment": "sandbox"}"#)
        _ = try await call(.post, "/customers", #"{"name": "anna"}"#)
        for name in ["tester", "anna", "tester"] {
            _ = try await call(.post, "/acts", #"{"act": "buy", "customer": "\#(name)", "product": "coins.100"}"#)
        }
        let all = try await call(.get, "/ledger").json["transactions"]?.array?.map { $0.object?["customer"]?.string }
        #expect(all == ["tester", "anna", "tester"])
        let rest = try await call(.get, "/ledger", query: "after=1").json["transactions"]?.array
        #expect(rest?.map { $0.object?["customer"]?.string } == ["anna", "tester"])
    }

    @Test func theClockRunsAsFastAsItIsTold() async throws {
        #expect(try await call(.post, "/clock", #"{"pace": 60}"#).json["pace"]?.int64 == 60)
        clock.advance(by: .seconds(60))
        #expect(try await call(.get, "/clock").json["now"]?.string == "2026-01-01T01:00:00.000Z")
        #expect(try await call(.post, "/clock", #"{"pace": 0}"#).json["now"]?.string == "2026-01-01T01:00:00.000Z")
        clock.advance(by: .seconds(60))
        #expect(try await call(.get, "/clock").json["now"]?.string == "2026-01-01T01:00:00.000Z")
        let target = #"{"to": "2026-02-01T00:00:00Z"}"#
        #expect(try await call(.post, "/clock", target).json["now"]?.string == "2026-02-01T00:00:00.000Z")
    }

    /// A subscription whose period cannot end later than it begins would be renewed for ever.
    @Test func timeEndsBeforeTheCalendarDoes() async throws {
        _ = try await call(.post, "/customers", #"{"name": "anna"}"#)
        _ = try await call(.post, "/acts", #"{"act": "buy", "customer": "anna", "product": "pro.yearly"}"#)
        for (body, path) in [
            (#"{"advance": "P9000Y"}"#, "advance"), (#"{"advance": "P999999Y"}"#, "advance"),
            (#"{"advance": "P999999W"}"#, "advance"), (#"{"to": "9000-01-01T00:00:01Z"}"#, "to"),
            (#"{"to": "1999-12-31T23:59:59Z"}"#, "to"),
        ] {
            let answer = try await call(.post, "/clock", body)
            #expect(answer.status == 400, "\(body)")
            #expect(answer.json["path"]?.string == path, "\(body)")
        }
        #expect(try await call(.get, "/clock").json["now"]?.string == "2026-01-01T00:00:00.000Z")
        let end = try await call(.post, "/clock", #"{"to": "9000-01-01T00:00:00Z", "pace": 10000000}"#)
        #expect(end.json["now"]?.string == "9000-01-01T00:00:00.000Z")
        clock.advance(by: .seconds(1_000_000))
        #expect(try await call(.get, "/clock").json["now"]?.string == "9000-01-01T00:00:00.000Z")
    }

    @Test func whoLeavesStopsTheClock() async throws {
        let request = HTTPRequest(
            method: .post,
            path: "/simulator/v1/clock",
            body: Array(#"{"advance": "P6000Y"}"#.utf8)
        )
        await withDiscardingTaskGroup { group in
            group.cancelAll()
            group.addTask { _ = await router.respond(to: request) }
        }
        #expect(simulator.now == StoreLife.start)
    }

    @Test func whatIsRefusedLeavesTheClockAlone() async throws {
        let back = #"{"pace": 60, "advance": "P2D", "to": "2026-01-02T00:00:00Z"}"#
        #expect(try await call(.post, "/clock", back).status == 409)
        let clock = try await call(.get, "/clock").json
        #expect(clock["now"]?.string == "2026-01-01T00:00:00.000Z")
        #expect(clock["pace"]?.int64 == 0)
    }

    @Test(arguments: [".", "..", "a\\nb", "\\u001b[31m", "\\u007f"])
    func aNameThatNoPathCanHoldIsRefused(name: String) async throws {
        let answer = try await call(.post, "/customers", #"{"name": "\#(name)"}"#)
        #expect(answer.status == 400)
        #expect(answer.json["path"]?.string == "name")
    }

    @Test func slowTimeIsNotLost() async throws {
        _ = try await call(.post, "/clock", #"{"pace": 1}"#)
        for _ in 0..<10 {
            clock.advance(by: .microseconds(500))
            _ = try await call(.get, "/clock")
        }
        clock.advance(by: .milliseconds(5))
        #expect(simulator.now >= StoreLife.start.advanced(by: .milliseconds(5)))
    }

    @Test(arguments: StoryTests.names)
    func everyStoryCanBeToldInARunningStore(_ name: String) async throws {
        let story = try StoryTests.story(name)
        let text = try StoryTests.text(name)
        let told = try await call(.post, "/stories", String(decoding: text, as: UTF8.self))
        // Where notifications go is the running store's to say: what needs a place for them says so.
        if name != "test-notification.json" {
            #expect(told.status == 200)
            #expect(told.json["differences"]?.array?.map(\.string) == [], "\(story.name)")
        } else {
            #expect(told.status == 409 && told.json["code"]?.string == "no_notification_url")
        }
        #expect(simulator.read(\.apps)[DemoCatalogue.bundleID]?.gracePeriod == DemoCatalogue.app().gracePeriod)
    }

    @Test func aStoryOfWhoIsThereAlreadyCountsWhatItTells() async throws {
        _ = try await call(.post, "/customers", #"{"name": "anna"}"#)
        _ = try await call(.post, "/acts", #"{"act": "buy", "customer": "anna", "product": "pro.monthly"}"#)
        let before = try #require(simulator.read(\.customers)["anna"])
        let story = """
            {"name": "One more", "customers": [{"name": "anna"}],
             "steps": [{"act": "buy", "customer": "anna", "product": "coins.100"}],
             "expect": {"notifications": ["ONE_TIME_CHARGE"], "transactions": {"anna": 1}}}
            """
        for _ in 0..<2 {
            #expect(try await call(.post, "/stories", story).json["differences"]?.array?.isEmpty == true)
        }
        #expect(simulator.read(\.notices.count) == 3)
        // She keeps the app and has had her trial.
        let after = try #require(simulator.read(\.customers)["anna"])
        #expect(after.downloads == before.downloads && after.usedIntroductions == before.usedIntroductions)
        #expect(!after.downloads.isEmpty && !after.usedIntroductions.isEmpty)
    }

    private static func withStep(_ step: String) -> String {
        #"{"name": "n", "customers": [], "steps": [{\#(step)}]}"#
    }

    static let wrong: [(method: HTTPMethod, path: String, body: String, status: Int, code: String)] = [
        (.post, "/acts", "", 400, "invalid_request"),
        (.post, "/acts", "[]", 400, "invalid_request"),
        (.post, "/acts", #"{"act": "fly"}"#, 400, "invalid_request"),
        (.post, "/acts", #"{"act": "buy", "customer": "nobody", "product": "sword"}"#, 409, "unknown_customer"),
        (.post, "/acts", #"{"act": "finish", "transaction": "1"}"#, 409, "unknown_transaction"),
        (.post, "/clock", #"{"to": "2025-01-01T00:00:00Z"}"#, 409, "time_has_passed"),
        (.post, "/clock", #"{"advance": "-P1D"}"#, 400, "invalid_request"),
        (.post, "/clock", #"{"pace": 1e3}"#, 400, "invalid_request"),
        (.post, "/clock", #"{"hurry": true}"#, 400, "invalid_request"),
        (.post, "/customers", #"{"name": 1}"#, 400, "invalid_request"),
        (.post, "/stories", #"{"name": "n"}"#, 400, "invalid_request"),
        (
            .post, "/stories", #"{"name": "n", "customers": [], "steps": [], "notifications_url": "x"}"#, 400,
            "invalid_request"
        ),
        (.put, "/apps/com.example.demo/notifications", #"{"url": "x"}"#, 400, "invalid_request"),
        (.put, "/apps/com.example.demo/notifications", #"{"url": "ftp://shop.example/"}"#, 400, "invalid_request"),
        (.post, "/stories", withStep(#""act": "fly""#), 400, "invalid_request"),
        (.post, "/stories", withStep(#""act": "finish", "transaction": "1""#), 409, "unknown_transaction"),
        (.get, "/customers/nobody", "", 404, "not_found"),
        (.get, "/nothing", "", 404, "not_found"),
        (.delete, "/clock", "", 405, "method_not_allowed"),
    ]

    @Test(arguments: wrong)
    func whatIsWrongIsSaid(
        _ row: (method: HTTPMethod, path: String, body: String, status: Int, code: String)
    ) async throws {
        let answer = try await call(row.method, row.path, row.body)
        #expect(answer.status == row.status)
        #expect(answer.json["code"]?.string == row.code)
        #expect(simulator.now == StoreLife.start)
    }

    @Test func anybodyMaySendAnything() async throws {
        var random = SeededRandom(seed: 3)
        for _ in 0..<300 {
            let body = random.bytes(Int(random.next() % 200))
            for path in ["/acts", "/clock", "/customers", "/stories"] {
                let request = HTTPRequest(method: .post, path: "/simulator/v1" + path, body: body)
                #expect(await router.respond(to: request).status == .badRequest)
            }
        }
        #expect(try await call(.get, "/ledger", query: "after=x").status == 400)
        #expect(try await call(.get, "/notices", query: "after=99999999999999").status == 400)
    }
}
