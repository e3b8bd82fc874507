import Encoding
import Foundation
import PurchaseModel
import TestSupport
import Testing

@testable import Server

/// The commands that ask a server's API, against a server.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct NounTests {
    /// A server that is asked by commands.
    private struct Desk {
        let folder: ServerFolder
        let server: ServerProcess

        func run(_ words: String...) async throws -> Program.Run { try await run(words) }

        func run(_ words: [String]) async throws -> Program.Run {
            let there = ["--server", "http://127.0.0.1:\(server.port)", "--key-file", folder.path + "/key"]
            return try await Program.run(words + there)
        }

        /// What a command that must succeed prints with `--json`, an object a line.
        func json(_ words: String...) async throws -> [JSONObject] {
            let there = ["--server", "http://127.0.0.1:\(server.port)", "--key-file", folder.path + "/key", "--json"]
            let run = try await Program.run(words + there)
            #expect(run.code == 0, "\(words): \(run.errorText)")
            return try run.output.split(separator: 0x0A).map { line in
                try #require(try JSONDocument(Array(line)).root.object)
            }
        }

        func buy(_ number: Int64, by customer: String = "anna") async throws {
            let answer = await server.post(Purchase.body(try Purchase.jws(number), customer: customer))
            #expect(answer?.status == 200)
        }
    }

    // What is sold in the sandbox is recorded only, unless it is to be delivered to everybody.
    private static func with(deliversSandbox: Bool = false, _ body: (Desk) async throws -> Void) async throws {
        try await ServerFolder.with { folder in
            if deliversSandbox {
                let text = try String(contentsOfFile: folder.configuration, encoding: .utf8)
                let rule = #""sandbox":{"everybody_until":"2200-01-01T00:00:00Z"},"accept_test_signed""#
                let told = text.replacingOccurrences(of: #""accept_test_signed""#, with: rule)
                try ServerFolder.write(Array(told.utf8), folder.configuration)
            }
            let server = try await folder.serve(
                "--webhooks-plain-hosts",
                "127.0.0.1",
                "--webhooks-allowed-addresses",
                "127.0.0.0/8"
            )
            try await body(Desk(folder: folder, server: server))
            server.stop()
            #expect(await server.exitCode() == 0)
        }
    }

    private static let number = "2000000000000001"

    // MARK: Nouns

    @Test func howThingsStandIsAskedByCommands() async throws {
        try await Self.with { desk in
            #expect(try await desk.run("apps", "show").text.hasPrefix("app_id: demo\n"))
            #expect(try await desk.json("apps", "show").first?["webhooks"]?.object?["enabled"]?.int64 == 0)
            #expect(try await desk.run("jobs", "list").code == 0)
            #expect(try await desk.run("jobs", "dead").text == "nothing\n")
            let none = try await desk.run("jobs", "retry", "job_none")
            #expect(none.code == 1 && none.errorText.contains("not_found"))
            let all = try await desk.run("jobs", "retry-all", "--kind", "support.ask")
            #expect(all.code == 0 && all.text.hasPrefix("retried: 0\n"))
        }
    }

    @Test func ordersLiveByCommands() async throws {
        try await Self.with { desk in
            for id in ["o1", "o2", "o3"] {
                let made = try await desk.run(
                    "orders",
                    "create",
                    "--order",
                    id,
                    "--customer",
                    "anna",
                    "--product",
                    "coins"
                )
                #expect(made.code == 0 && made.text.contains("order_id: \(id)\n"), "\(made.errorText)")
            }
            let table = try await desk.run("orders", "list", "--customer", "anna")
            let lines = table.text.split(separator: "\n")
            #expect(lines.count == 4)
            #expect(lines[0].hasPrefix("ORDER_ID  STATE"))
            #expect(lines[1].hasPrefix("o1        "))
            let first = try await desk.run("orders", "list", "--limit", "2")
            #expect(first.text.split(separator: "\n").count == 3)
            #expect(first.errorText == "more: --after o2\n")
            let objects = try await desk.run("orders", "list", "--limit", "2", "--json")
            #expect(objects.errorText == first.errorText)
            #expect(try await desk.json("orders", "list", "--limit", "1", "--all").count == 3)
            #expect(try await desk.json("orders", "list", "--after", "o2").map { $0["order_id"]?.string } == ["o3"])
            #expect(try await desk.run("orders", "cancel", "o3").text.contains("state: cancel"))
            try await desk.buy(1, by: "bert")
            let waiting = try await desk.run("orders", "attach", "o1", "--transaction", Self.number)
            #expect(waiting.code == 1, "another customer's purchase pays nothing")
            #expect(try await desk.json("orders", "show", "o1").first?["order_id"]?.string == "o1")
            let none = try await desk.run("orders", "show", "o9")
            #expect(none.code == 1 && none.errorText.hasPrefix("assay orders show: not_found: "))
        }
    }

    @Test func aPartThatWasTakenBackIsShown() async throws {
        try await Self.with(deliversSandbox: true) { desk in
            let order = ["--order", "o1", "--customer", "anna", "--product", "coins"]
            #expect(try await desk.run(["orders", "create"] + order).code == 0)
            try await desk.buy(1)
            var part = try Purchase.transaction(1)
            part.signedAt = part.signedAt.advanced(by: .seconds(60))
            part.revocation = Revocation(at: part.signedAt, reason: 0, type: "REFUND_PRORATED", percentage: 40_000)
            let body = Purchase.body(try Purchase.jws(part), customer: "anna")
            #expect(await desk.server.post(body)?.status == 200)
            let shown = try await desk.run("transactions", "list", "anna")
            #expect(shown.text.contains(" STATE            REVERSED_PERCENTAGE "), "\(shown.text)")
            #expect(shown.text.contains("  partly_reversed  40000 "), "\(shown.text)")
            let orders = try await desk.run("orders", "list")
            #expect(orders.text.hasPrefix("ORDER_ID  STATE  REFUNDED_PERCENTAGE  "), "\(orders.text)")
            #expect(orders.text.contains("o1        paid   40000 "), "\(orders.text)")
        }
    }

    @Test func eventsNameWhatWasBought() async throws {
        try await Self.with(deliversSandbox: true) { desk in
            try await desk.buy(1)
            let rows = try await desk.run("events", "list", "--types", "delivery.granted").text.split(separator: "\n")
            #expect(rows.count == 2 && rows.last?.contains("coins") == true, "\(rows)")
        }
    }

    @Test func whatWasBoughtIsShown() async throws {
        try await Self.with { desk in
            try await desk.buy(1)
            try await desk.buy(2)
            #expect(try await desk.json("transactions", "list", "anna", "--limit", "1", "--all").count == 2)
            let shown = try await desk.json("transactions", "show", Self.number)
            #expect(shown.first?["transaction_id"]?.string == Self.number)
            #expect(try await desk.run("transactions", "show", Self.number).text.contains("coins"))
            let dry = try await desk.run(
                "transactions",
                "transfer",
                "--original",
                Self.number,
                "--to",
                "bert",
                "--dry-run",
                "--environment",
                "sandbox",
                "--test-signed"
            )
            #expect(dry.code == 0, "\(dry.errorText)")
            let waiting = try await desk.json("deliveries", "waiting")
            let events = try await desk.json("events", "list", "--all", "--limit", "1")
            #expect(events.count >= 2)
            let types = try await desk.run("events", "list", "--types", "nonsense")
            #expect(types.code == 2 && types.errorText.contains("catalogue of events"))
            if let id = waiting.first?["delivery_id"]?.string {
                #expect(try await desk.json("deliveries", "show", id).first?["delivery_id"]?.string == id)
            }
            let stale = try await desk.run("deliveries", "ack", "dlv_none", "--fence", "1")
            #expect(stale.code == 1)
        }
    }

    @Test func nothingIsGrantedByHandThatNoProductGives() async throws {
        try await Self.with { desk in
            let refused = try await desk.run("customers", "grant", "anna", "pro", "--for-ever")
            #expect(refused.code == 1 && refused.errorText.contains("not_found"))
            #expect(try await desk.run("customers", "revoke", "anna", "pro").code == 1)
            #expect(try await desk.run("customers", "granted", "anna").text == "nothing\n")
        }
    }

    @Test func customersAreShown() async throws {
        try await Self.with { desk in
            try await desk.buy(1)
            for words in [["entitlements"], ["balances"]] {
                #expect(try await desk.run("customers", words[0], "anna").text == "nothing\n")
            }
            let side = ["--environment", "sandbox", "--test-signed"]
            let given = try await desk.json(
                "customers",
                "adjust",
                "anna",
                "coins",
                "--amount",
                "50",
                side[0],
                side[1],
                side[2]
            )
            #expect(given.first?["balance"]?.int64 == 50)
            let used = try await desk.run(
                "customers",
                "use",
                "anna",
                "coins",
                "--amount",
                "30",
                side[0],
                side[1],
                side[2],
                "--idempotency-key",
                "k"
            )
            let again = try await desk.run(
                "customers",
                "use",
                "anna",
                "coins",
                "--amount",
                "30",
                side[0],
                side[1],
                side[2],
                "--idempotency-key",
                "k"
            )
            #expect(used.text == again.text && used.text.contains("balance: 20\n"), "\(used.errorText)")
            let postings = try await desk.json(
                "customers",
                "postings",
                "anna",
                "coins",
                side[0],
                side[1],
                side[2],
                "--all"
            )
            #expect(postings.map { $0["amount"]?.int64 } == [30, 50])
        }
    }

    @Test func consentAndRefundRequestsAreShown() async throws {
        try await Self.with { desk in
            #expect(try await desk.run("customers", "set-consent", "anna", "--given").code == 0)
            #expect(try await desk.json("customers", "consent", "anna").first?["is_given"]?.bool == true)
            let both = try await desk.run("customers", "set-consent", "anna", "--given", "--withdrawn")
            #expect(both.code == 2 && both.errorText.contains("contradict each other"))
            #expect(try await desk.run("subscriptions", "list", "anna").text == "nothing\n")
            #expect(try await desk.run("subscriptions", "show", Self.number).code == 1)
            #expect(try await desk.run("refunds", "list").text == "nothing\n")
            // As its help says it.
            let help = try await Program.run(["refunds", "list", "--help"]).text
            let state = try #require(help.firstMatch(of: /assay refunds list --state ([a-z]+)/)).1
            #expect(try await desk.run("refunds", "list", "--state", String(state)).text == "nothing\n")
            for verb in ["show", "answer", "decline"] { #expect(try await desk.run("refunds", verb, "none").code == 1) }
        }
    }

    @Test func webhooksLiveByCommands() async throws {
        try await Self.with { desk in
            let url = "http://127.0.0.1:\(desk.server.port)/hook"
            let made = try await desk.json(
                "webhooks",
                "create",
                "--url",
                url,
                "--types",
                "delivery.granted,delivery.compensated"
            )
            let created = try #require(made.first)
            let id = try #require(created["webhook_id"]?.string)
            #expect(created["secret"]?.string?.hasPrefix("whsec_") == true)
            #expect(created["types"]?.array?.count == 2)
            #expect(try await desk.run("webhooks", "list").text.contains(url))
            #expect(try await desk.run("webhooks", "change", id, "--disable").text.contains("is_enabled: false"))
            #expect(try await desk.run("webhooks", "change", id, "--enable").text.contains("is_enabled: true"))
            #expect(try await desk.run("webhooks", "change", id, "--per-second", "5").text.contains("per_second: 5"))
            #expect(try await !desk.run("webhooks", "change", id, "--any-rate").text.contains("per_second"))
            #expect(try await desk.run("webhooks", "test", id).text.contains("status: 404\n"))
            #expect(try await desk.json("webhooks", "rotate", id).count == 1)
            #expect(try await desk.run("webhooks", "rotate", id, "--keep", "1").code == 0)
            #expect(try await desk.json("webhooks", "replay", id, "--dead").first?["replayed"]?.int64 == 0)
            #expect(try await desk.json("webhooks", "show", id).first?["webhook_id"]?.string == id)
            #expect(try await desk.json("webhooks", "deliveries", id, "--state", "dead").isEmpty)
            #expect(try await desk.run("webhooks", "delivery", id, "evt_none").code == 1)
            #expect(try await desk.run("webhooks", "delete", id).code == 0)
            #expect(try await desk.run("webhooks", "list").text == "nothing\n")
        }
    }

    @Test func keysLiveByCommands() async throws {
        try await Self.with { desk in
            let made = try await desk.json(
                "keys",
                "create",
                "--name",
                "reports",
                "--kind",
                "secret",
                "--scopes",
                "read"
            )
            let id = try #require(made.first?["key_id"]?.string)
            let secret = try #require(made.first?["secret"]?.string)
            try ServerFolder.write(Array(secret.utf8), desk.folder.path + "/reports", isSecret: true)
            let there = ["--server", "http://127.0.0.1:\(desk.server.port)/"]
            let mayRead = try await Program.run(
                ["orders", "list", "--key-file", desk.folder.path + "/reports"] + there
            )
            #expect(mayRead.text == "nothing\n")
            let mayNot = try await Program.run(["keys", "list", "--key-file", desk.folder.path + "/reports"] + there)
            #expect(mayNot.code == 1 && mayNot.errorText.contains("scope_missing"))
            #expect(try await desk.json("keys", "rotate", id, "--overlap", "0").first?["secret"] != nil)
            #expect(try await desk.json("keys", "list").count == 2)
            #expect(
                try await desk.run("keys", "rotate", made.first?["key_id"]?.string ?? "").code == 1,
                "it is another's now"
            )
            let last = try #require(try await desk.json("keys", "list").first?["key_id"]?.string)
            #expect(try await desk.run("keys", "revoke", last).text.contains("revoked_at: "))
            #expect(try await desk.run("keys", "signing").code == 0)
            #expect(try await desk.run("products", "list").text == "nothing\n", "an app without a catalogue")
            #expect(try await desk.run("certificates", "list").code == 0)
            #expect(try await desk.run("charts", "overview").text.contains("is_complete: true"))
            #expect(try await desk.json("charts", "show", "orders").first?["unit"]?.string == "count")
            #expect(try await desk.run("charts", "show", "revenue").errorText.contains("currency is three capital"))
            #expect(try await desk.run("apple", "requests").text == "nothing\n")
            #expect(try await desk.run("notifications", "list").text == "nothing\n")
            #expect(try await desk.run("notifications", "figures").code == 0)
            #expect(try await desk.run("notifications", "show", "none").code == 1)
        }
    }

    // MARK: What holds of all

    /// Those that a command would be of no use for, and those that other commands are there for.
    private static let without: Set<String> = [
        "post /v1/purchases", "get /v1/submissions/{}", "post /v1/signatures/promotional-offer",
        "post /v1/signatures/introductory-offer", "post /v1/signatures/advanced-commerce",
        "post /v1/signatures/explain", "post /v1/apple/notifications/{}", "post /v1/apple/orders/{}/lookup",
        "post /v1/apple/subscriptions/extend", "post /v1/apple/subscriptions/{}/extend",
        "post /v1/apple/transactions/{}/account-token", "post /v1/apple/customers/{}/account-token",
        "get /v1/apple/requests/{}",
    ]

    @Test func everyOperationOfTheAPIHasItsCommand() async throws {
        try await Self.with { desk in
            let port = desk.server.port
            let answer = await Threads.run { WireClient(port: port)?.get("/openapi.json", key: nil) }
            let paths = try #require(answer?.json?["paths"]?.object)
            let operations = paths.members.flatMap { path, item in
                (item.object?.members.map(\.key) ?? []).filter { ["get", "post"].contains($0) }.map { method in
                    "\(method) \(path.replacing(/\{[a-z_]+\}/, with: "{}"))"
                }
            }.filter { $0.contains(" /v1/") }
            let asked = Questions.all.map { "\($0.isChange ? "post" : "get") \($0.path)" }
            #expect(Set(operations) == Set(asked).union(Self.without))
        }
    }

    @Test func everyCommandHasAnExampleOfItself() {
        for question in Questions.all {
            #expect(!question.examples.isEmpty, "\(question.name)")
            #expect(question.examples.allSatisfy { $0.line.contains("assay \(question.name)") }, "\(question.name)")
            #expect(question.summary.hasSuffix("."))
        }
    }

    /// Each row: what is wrong with the words, and what is said of it.
    @Test(arguments: [
        (["orders", "list"], "the app's key is missing"), (["orders", "show"], "ORDER is missing"),
        (["orders", "lsit"], "orders list"),
        (["orders", "list", "--key-file", "/nowhere"], "/nowhere cannot be read"),
        (["orders", "create", "--order", "o", "--key-file", "/etc/hostname"], "--customer is missing"),
        (["customers", "use", "a", "b", "--amount", "x", "--key-file", "/etc/hostname"], "--amount is a whole number"),
        (["orders", "list", "--server", "http://127.0.0.1:1", "--key-file", "/etc/hostname"], "no server answers"),
        (["orders", "list", "--server", "nonsense", "--key-file", "/etc/hostname"], "is no URL"),
    ])
    func whatCannotBeAskedIsSaid(words: [String], said: String) async throws {
        let run = try await Program.run(words)
        #expect(run.code == 2)
        #expect(run.errorText.contains(said), "\(run.errorText)")
        #expect(run.output == [])
    }

    @Test func whatTheServerSaysDoesNotReachTheTerminalRaw() {
        let table = AnswerTable(paint: .none, isJSON: false)
        let hostile = JSONWriter.object { $0.member("name", TerminalTests.hostile) }
        let document = try? JSONDocument(hostile)
        let row = try? #require(document?.root)
        let shown = row.map { table.rows([$0], ["name"], isFirst: true) } ?? []
        #expect(!shown.isEmpty && !shown.contains(0x1B) && !shown.contains(0x0D))
        let object = table.object(APIClient.Answer(body: hostile, json: document?.root.object))
        #expect(!object.isEmpty && !object.contains(0x1B) && object.filter { $0 == 0x0A }.count == 1)
    }
}
