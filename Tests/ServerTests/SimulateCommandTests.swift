import Encoding
import Foundation
import Testing

/// The commands that speak to a running simulator, as they are typed.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct SimulateCommandTests {
    @Test func aPurchaseLivesByCommands() async throws {
        try await TemporaryFolder.with { folder in
            let store = try await SimulatorProcess(in: folder)
            let bought = try await store.run("buy", "anna", "pro.monthly")
            #expect(bought.code == 0 && bought.errorText == "")
            #expect(bought.text.hasPrefix("done\n  transaction  "))
            #expect(bought.text.contains("com.example.demo.pro.monthly, 0.00 USD, bought 2026-01-01T00:00:00.000Z"))
            // The trial of a week ends first.
            let renewed = try await store.run("renew", "anna")
            #expect(renewed.text.contains("4.99 USD, renewal, bought 2026-01-08T00:00:00.000Z"))
            #expect(try await store.run("cancel", "anna", "pro.monthly").code == 0)
            let none = try await store.run("renew", "anna")
            #expect(none.code == 1 && none.errorText.contains("nothing_renews"))
            #expect(try await store.run("resume", "anna", "pro.monthly").code == 0)
            let moved = try await store.run("clock", "advance", "P31D")
            #expect(moved.text.hasPrefix("time         2026-02-08T00:00:00.000Z, stands still\n"))
            #expect(try await store.run("refund", "anna").text.contains("REVOKED 2026-02-08T00:00:00.000Z"))
            let shown = try await store.run("show", "anna")
            #expect(shown.text.contains(" revoked, expires "))
            #expect(shown.text.split(separator: "\n").count { $0.hasPrefix("  transaction") } == 3)
            #expect(await store.stop() == 0)
        }
    }

    /// Nobody listens there: each attempt fails, and is noted all the same.
    @Test func whatWasBeforeTheStartIsToldToNobody() async throws {
        try await TemporaryFolder.with { folder in
            let store = try await SimulatorProcess(in: folder, "--population", "4", "--notify", "http://127.0.0.1:9/")
            #expect(try await store.run("show").text.contains("customer-0"))
            #expect(try await deliveries(store).isEmpty)
            #expect(try await store.run("buy", "anna", "sword").code == 0)
            #expect(try await deliveries(store) == ["ONE_TIME_CHARGE"])
        }
    }

    private func deliveries(_ store: SimulatorProcess) async throws -> [String?] {
        let port = store.port
        let path = "/simulator/v1/apps/com.example.demo/deliveries"
        let answer = await Threads.run { WireClient(port: port)?.get(path, key: nil) }
        return try #require(answer?.json?["deliveries"]?.array).map { $0.object?["type"]?.string }
    }

    @Test func customersAreAsTheyAreTold() async throws {
        try await TemporaryFolder.with { folder in
            let store = try await SimulatorProcess(in: folder)
            let words = ["--environment", "sandbox", "--storefront", "DEU", "--pace", "sandbox_3", "--family", "smith"]
            let added = try await Program.run(["simulate", "customer", "zoë/1", "--at", store.base + "/"] + words)
            #expect(added.text == "zoë/1: sandbox, DEU, at the pace sandbox_3, of family smith\n")
            #expect(try await store.run("customer", "zoë/1").errorText.contains("exists: "))
            let token = "11111111-2222-4333-8444-555555555555"
            let bought = try await store.run("buy", "zoë/1", "coins.100", "--quantity", "3", "--token", token, "--json")
            let sold = try JSONDocument(bought.output).root.object?["transactions"]?.array?[0]?.object
            #expect(sold?["quantity"]?.int64 == 3 && sold?["account_token"]?.string == token)
            #expect(try await store.run("show", "zoë/1").text.contains("coins.100, x3, 2.97 USD"))
            #expect(try await store.run("buy", "zoë/1", "pro.monthly", "--offer", "WELCOME").code == 0)
            let all = try await store.run("show")
            #expect(all.text.hasPrefix("time         2026-01-01T00:00:00.000Z"))
            #expect(all.text.contains("zoë/1: sandbox") && all.text.contains("active, renews as"))
            let share = try await store.run("refund", "zoë/1", "coins.100", "--decision", "prorated", "--json")
            let refunded = try JSONDocument(share.output).root.object?["transactions"]?.array?[0]?.object
            #expect(refunded?["revocation"]?.object?["type"]?.string == "REFUND_PRORATED")
        }
    }

    @Test(arguments: [
        ("jws", "jws_transaction"), ("renewal", "jws_renewal_info"), ("app-transaction", "jws_app_transaction"),
        ("receipt", "app_receipt"), ("transaction-receipt", "transaction_receipt"),
    ])
    func everyProofIsForThePipe(format: String, name: String) async throws {
        try await TemporaryFolder.with { folder in
            let store = try await SimulatorProcess(in: folder)
            #expect(try await store.run("buy", "anna", "sword").code == 0)
            #expect(try await store.run("buy", "anna", "pro.monthly").code == 0)
            let proof = try await store.run("proof", "anna", "--format", format)
            #expect(proof.code == 0)
            #expect(proof.text.split(separator: "\n", omittingEmptySubsequences: false).count == 2)
            let verified = try await Program.run(
                [
                    "verify", "--json", "--roots", store.folder + "/roots", "--certificates",
                    store.folder + "/certificates", "--bundle-id", "com.example.demo", "-",
                ],
                input: proof.output
            )
            let report = try JSONDocument(verified.output).root.object
            #expect(report?["verdict"]?.string == "test_signed" && report?["format"]?.string == name)
            guard format == "jws" else { return }
            let sword = try await store.run("proof", "anna", "sword")
            #expect(sword.code == 0 && sword.output != proof.output)
            #expect(try await store.run("proof", "anna", "magazine").errorText.contains("no_transaction"))
            #expect(try await store.run("proof", "anna", "sword", "--format", "renewal").code == 1)
        }
    }

    /// A folder of its own signs whatever its clock shows, from the first moment to the last.
    @Test(arguments: [("2000-01-01T00:00:00Z", ["--population", "1"]), ("8999-12-31T23:59:59Z", [])])
    func whatIsSignedAtAnyMomentHolds(start: String, flags: [String]) async throws {
        try await TemporaryFolder.with { folder in
            let store = try await SimulatorProcess(in: folder, startingAt: start, flags, isNew: true)
            #expect(try await store.run("buy", "anna", "sword").code == 0)
            #expect(try await store.run("clock", "advance", "PT1S").code == 0)
            #expect(try await store.run("buy", "anna", "coins.100").code == 0)
            for format in ["jws", "receipt", "transaction-receipt"] {
                let proof = try await store.run("proof", "anna", "--format", format)
                let verified = try await Program.run(
                    [
                        "verify", "--json", "--roots", store.folder + "/roots", "--certificates",
                        store.folder + "/certificates", "-",
                    ],
                    input: proof.output
                )
                #expect(try JSONDocument(verified.output).root.object?["verdict"]?.string == "test_signed", "\(format)")
            }
        }
    }

    /// What an older version made ends sooner, that of the tests with 2039: nothing is signed that nobody would take.
    @Test func anOlderFoldersCertificatesBoundItsTime() async throws {
        try await TemporaryFolder.with { folder in
            let store = try await SimulatorProcess(in: folder, startingAt: "2039-12-01T00:00:00Z")
            for words in [["to", "2050-01-01T00:00:00Z"], ["advance", "P1Y"]] {
                let late = try await store.run("clock", words[0], words[1])
                #expect(late.code == 1 && late.errorText.contains("beyond_certificates: "), "\(late.errorText)")
                #expect(late.errorText.contains("2039-12-31T00:00:00.000Z"), "\(late.errorText)")
            }
            let file = folder + "/story.json"
            let story = #"{"name": "late", "customers": [], "steps": [], "ends": "P11Y"}"#
            try ServerFolder.write(Array(story.utf8), file)
            #expect(try await store.run("story", file).errorText.contains("beyond_certificates: "))
            #expect(try await store.run("buy", "anna", "sword").text.contains("bought 2039-12-01T00:00:00.000Z"))
            #expect(try await store.run("clock", "advance", "P20D").code == 0)
            let words = ["simulate", "--data", store.folder, "--listen", "127.0.0.1:0", "--start"]
            for (start, flags) in [("2050-01-01T00:00:00Z", []), ("2020-06-01T00:00:00Z", ["--population", "1"])] {
                let run = try await Program.run(words + [start] + flags)
                #expect(run.code == 2)
                let range = "2020-01-01T00:00:00.000Z to 2039-12-31T00:00:00.000Z"
                #expect(run.errorText.contains(range), "\(run.errorText)")
            }
        }
    }

    @Test func settingsAreShownAndSet() async throws {
        try await TemporaryFolder.with { folder in
            let store = try await SimulatorProcess(in: folder)
            #expect(try await store.run("chaos").text == "no chaos\n")
            #expect(try await store.run("chaos", #"{"html": 250}"#).text.contains("\n  html          250\n"))
            #expect(try await store.run("chaos").text.contains("html"))
            #expect(try await store.run("chaos", "none").text == "no chaos\n")
            #expect(try await store.run("clock", "pace", "60").text.contains(", 60 seconds in each of ours\n"))
            #expect(try await store.run("clock", "pace", "0").text.contains("stands still"))
            let moved = try await store.run("clock", "to", "2027-01-01T00:00:00Z", "--json")
            #expect(try JSONDocument(moved.output).root.object?["now"]?.string == "2027-01-01T00:00:00.000Z")
            for span in ["31d", "744h", "44640min"] {
                let before = try await store.run("clock", "--json")
                let after = try await store.run("clock", "advance", span, "--json")
                let moments = try [before, after].map { run in
                    try #require(JSONDocument(run.output).root.object?["now"]?.string.flatMap(RFC3339.milliseconds))
                }
                #expect(moments[1] - moments[0] == 31 * 86_400_000, "\(span)")
            }
            #expect(try await store.run("clock", "advance", "31 days").code == 2)
            let test = #"{"act": "request_test_notification"}"#
            #expect(try await store.run("act", test).errorText.contains("no_notification_url"))
            #expect(try await store.run("notify", "http://127.0.0.1:9/none").text.contains("127.0.0.1:9"))
            #expect(try await store.run("act", "-", input: test).text.hasPrefix("done, test notification "))
            #expect(try await store.run("notify", "none").text == "notifications go nowhere\n")
        }
    }

    @Test func storiesAreTold() async throws {
        try await TemporaryFolder.with { folder in
            let store = try await SimulatorProcess(in: folder)
            let stories = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Examples/stories")
                .path
            let told = try await store.run(
                "story",
                stories + "/non-consumable.json",
                stories + "/refund-by-support.json"
            )
            #expect(told.code == 0, "\(told.text)")
            #expect(told.text.split(separator: "\n").count { $0.contains(": as told, ") } == 2)
            let other = #"{"name": "Nobody buys", "customers": [], "steps": [], "expect": {"notifications": ["TEST"]}}"#
            let refused = try await store.run("story", stories + "/non-consumable.json")
            #expect(refused.code == 1 && refused.text == "", "\(refused.text)")
            #expect(refused.errorText.contains("already_owned: steps[0].act: "), "\(refused.errorText)")
            let differs = try await store.run("story", "-", input: other)
            #expect(differs.code == 1 && differs.text.contains("\n  differs      notifications were [], not"))
        }
    }

    private static let refused: [(words: [String], code: Int32, says: String)] = [
        (["buy", "anna", "nothing"], 1, "unknown_product: "), (["show", "nobody"], 1, "not_found: "),
        (["proof", "nobody"], 1, "not_found: "), (["cancel", "anna", "pro.monthly"], 1, "not_subscribed: "),
        (["act", "{}"], 2, "act: is missing"), (["act", "no JSON"], 2, "the body is not JSON"),
        (["customer", "anna", "--pace", "fast"], 2, "pace: must be "),
        (["chaos", #"{"slow": 2000}"#], 2, "slow: must"),
        (["notify", "nonsense"], 2, "url: must be an http or https URL"),
        (["clock", "to", "2020-01-01T00:00:00Z"], 1, "time_has_passed: to: time does not go back"),
        (["clock", "back", "P1D"], 2, "the clock takes"),
        (["clock", "pace", "fast"], 2, "a pace is a whole number"), (["story", "/none.json"], 2, "cannot be read"),
        (["buy", "anna", "sword", "--quantity", "two"], 2, "--quantity is a whole number"),
        (["proof", "anna", "--format", "jwt"], 2, #"did you mean "jws"?"#),
        (["proof", "anna", "sword", "--format", "receipt"], 2, "leave PRODUCT out"),
    ]

    @Test func whatIsNotDoneIsSaid() async throws {
        try await TemporaryFolder.with { folder in
            let store = try await SimulatorProcess(in: folder)
            for row in Self.refused {
                let run = try await Program.run(["simulate"] + row.words + ["--at", store.base])
                #expect(run.code == row.code, "\(row.words)")
                #expect(run.errorText.contains(row.says) && run.errorLines.count == 1, "\(run.errorText)")
                #expect(run.output == [])
            }
        }
    }

    @Test func withoutASimulatorItSaysHowToStartOne() async throws {
        // Nobody may listen there: port 1 is below those that programs are given.
        let run = try await Program.run(["simulate", "clock", "--at", "http://127.0.0.1:1"])
        #expect(run.code == 2 && run.output == [])
        #expect(run.errorText.contains("no simulator answers at http://127.0.0.1:1; start one with \"assay simulate\""))
        #expect(try await Program.run(["simulate", "clock", "--at", "nowhere"]).errorText.contains("is no URL"))
    }

    @Test func anotherServerIsNoSimulator() async throws {
        try await ServerFolder.with { folder in
            let server = try await folder.serve()
            let run = try await Program.run(["simulate", "clock", "--at", "http://127.0.0.1:\(server.port)"])
            #expect(run.code == 2 && run.errorText.contains("is no simulator (HTTP 404)"))
        }
    }

    @Test func aPortIsOnlyOnce() async throws {
        try await TemporaryFolder.with { folder in
            let store = try await SimulatorProcess(in: folder)
            let run = try await Program.run([
                "simulate", "--data", store.folder, "--listen", "127.0.0.1:\(store.port)",
            ])
            #expect(run.code == 2 && run.errorText.contains("port \(store.port): another program does already"))
        }
    }
}
