import Encoding
import Foundation
import Testing

/// The first minute: what the demo prints and what the README says must work as it stands there.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct DemoTests {
    private static let demo = ["demo", "--data", "data", "--listen", "127.0.0.1:0", "--simulator", "127.0.0.1:0"]

    @Test func theCommandsThatItPrintsWork() async throws {
        try await Self.with { folder, server, greeting in
            let commands = Self.commands(in: greeting) { $0.hasPrefix("  ") ? String($0.dropFirst(2)) : nil }
            try #require(commands.count == 7)
            // It says where the program is, for a shell that does not know.
            #expect(commands[0] == "export PATH=\"\(Self.programFolder):$PATH\"")
            let first = try await Self.walk([commands[1], commands[2]], in: folder)
            #expect(first["result"]?.string == "recorded")
            let again = try await Self.walk([commands[2]], in: folder)
            #expect(again["result"]?.string == "already_recorded")
            // Nobody sends what happens from here on but the store.
            _ = try await Self.shell([commands[3]], in: folder)
            #expect(try await Self.list([commands[5]], in: folder, until: ["recorded", "recorded"]))
            _ = try await Self.shell([commands[4]], in: folder)
            #expect(try await Self.list([commands[5]], in: folder, until: ["revoked", "recorded"]))
            let metrics = try await Self.shell([commands[6]], in: folder)
            #expect(metrics.contains("assay_submissions_total"))
            let link = try #require(greeting.firstMatch(of: /\nhttp:\S+\/dashboard\/first-account\S+/)).output
            let page = try await Self.shell(["curl -s '\(link.dropFirst())'"], in: folder)
            #expect(page.contains("<form"))
            server.stop()
            #expect(await server.exitCode() == 0)
        }
    }

    @Test func theFirstMinuteOfTheReadmeWorks() async throws {
        let readme = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../README.md").path
        let text = try String(contentsOfFile: readme, encoding: .utf8)
        let minute = try #require(
            text.split(separator: "\n## ").first { $0.hasPrefix("A verified purchase in a minute") }
        )
        var isCode = false
        let commands = Self.commands(in: String(minute)) { line in
            if line.hasPrefix("```") { isCode.toggle() }
            return isCode && !line.hasPrefix("```") ? String(line) : nil
        }.filter { !$0.hasPrefix("make ") }
        try await Self.with { folder, server, greeting in
            let store = try #require(SimulatorProcess.port(in: greeting))
            let here = commands.map { command in
                command.replacing("127.0.0.1:8080", with: "127.0.0.1:\(server.port)")
                    .replacing("$PWD/.build/release", with: Self.programFolder)
                    .replacing(/assay simulate [^)']+/) { "\($0.0) --at http://127.0.0.1:\(store)" }
            }
            // The first purchase, what sends it, and what happens later.
            let place = try #require(here.firstIndex { $0.hasPrefix("curl ") })
            let later = Array(here.dropFirst(place + 1).prefix(3))
            try #require(later.count == 3)
            let export = Array(here.prefix(1))
            let first = try await Self.walk(Array(here.prefix(place + 1)), in: folder)
            #expect(first["result"]?.string == "recorded")
            _ = try await Self.shell(export + [later[0]], in: folder)
            #expect(try await Self.list([later[2]], in: folder, until: ["recorded", "recorded"]))
            _ = try await Self.shell(export + [later[1]], in: folder)
            #expect(try await Self.list([later[2]], in: folder, until: ["revoked", "recorded"]))
        }
    }

    /// What stands there is done as it stands there, with a shop beside it.
    @Test func theTenMinutesWork() async throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/first-steps.md")
            .path
        var isCode = false
        let commands = Self.commands(in: try String(contentsOfFile: page, encoding: .utf8)) { line in
            if line.hasPrefix("```") { isCode.toggle() }
            return isCode && !line.hasPrefix("```") ? String(line) : nil
        }
        try await Self.with { folder, server, greeting in
            let store = try #require(SimulatorProcess.port(in: greeting))
            let here = commands.map { command in
                command.replacing("127.0.0.1:8080", with: "127.0.0.1:\(server.port)")
                    .replacing("$PWD/.build/release", with: Self.programFolder)
                    .replacing(/assay simulate [^)']+/) { "\($0.0) --at http://127.0.0.1:\(store)" }
            }
            try #require(here.count == 11 && here[0] == "make run" && here[1].hasPrefix("export "))
            let setting = [here[1], "export ASSAY_SERVER=http://127.0.0.1:\(server.port)"]
            func run(_ commands: ArraySlice<String>) async throws -> String {
                try await Self.shell(setting + commands, in: folder)
            }
            let words = here[2].split(separator: " ").dropFirst().map(String.init)
            let access = ["--server", "http://127.0.0.1:\(server.port)", "--key-file", "data/key"]
            let shop = try BesideProcess(words + access, in: folder)
            #expect(await shop.errors.until("Ctrl-C ends it"), "\(shop.errors.text)")
            #expect(try await run(here[3...4]).contains("\"result\":\"recorded\""))
            #expect(await shop.output.until("delivery.granted  anna  com.example.demo.coins.100"))
            #expect(try await run(here[5...5]).contains("100"))
            _ = try await run(here[6...6])
            #expect(await shop.output.until("delivery.compensated  anna"))
            let balance = try await run(here[7...7])
            #expect(balance.contains("coins") && !balance.contains("100"), "\(balance)")
            #expect(try await run(here[8...8]).contains("refund"))
            #expect(try await run(here[9...9]).contains("com.example.demo.coins.100"))
            #expect(try await run(here[10...10]).contains("delivery.compensated"))
            // Who listened no longer is told nothing.
            shop.interrupt()
            #expect(await shop.exitCode() == 0)
            #expect(!(try await run(["assay webhooks list"])).contains("localhost"))
        }
    }

    /// A receiver on this machine, by whatever address `webhook listen` gives it.
    @Test(arguments: ["http://localhost:3000/", "http://[::1]:3000/"])
    func aReceiverOnThisMachineIsTaken(url: String) async throws {
        try await Self.with { folder, server, _ in
            let there = ["--server", "http://127.0.0.1:\(server.port)", "--key-file", folder + "/data/key"]
            let made = try await Program.run(["webhooks", "create", "--url", url] + there)
            #expect(made.code == 0, "\(made.errorText)")
        }
    }

    @Test func whatIsGrantedByHandIsShownAndRevoked() async throws {
        try await Self.with { folder, server, _ in
            let there = ["--server", "http://127.0.0.1:\(server.port)", "--key-file", folder + "/data/key", "--json"]
            func row(_ words: String...) async throws -> JSONObject {
                let run = try await Program.run(["customers"] + words + there)
                #expect(run.code == 0, "\(words): \(run.errorText)")
                return try #require(try JSONDocument(Array(run.output.split(separator: 0x0A).joined())).root.object)
            }
            let until = "2999-01-01T00:00:00.000Z"
            let granted = try await row("grant", "anna", "pro", "--until", until, "--reason", "the outage")
            #expect(granted["changed_by"]?.string == "demo" && granted["until"]?.string == until)
            #expect(try await row("entitlements", "anna")["granted_by_hand"]?.bool == true)
            #expect(try await row("grant", "anna", "pro", "--for-ever")["until"] == nil)
            let listed = try await row("granted", "anna")
            #expect(listed["version"]?.int64 == 2 && listed["reason"] == nil)
            #expect(try await row("revoke", "anna", "pro", "--reason", "a mistake")["is_revoked"]?.bool == true)
            let twice = ["customers", "grant", "anna", "pro", "--for-ever", "--until", until]
            let both = try await Program.run(twice + there)
            #expect(both.code == 2)
        }
    }

    @Test func aSecondStartFindsEverything() async throws {
        try await TemporaryFolder.with { folder in
            try SimulatorProcess.makeAuthority(in: folder + "/data/simulator")
            var proof: [UInt8] = []
            var answers: [WireClient.Answer] = []
            var files: [[String: [UInt8]]] = []
            for _ in 0..<2 {
                let server = try await ServerProcess(Self.demo, in: folder)
                #expect(await server.output.until("Ctrl-C stops both"))
                let store = "http://127.0.0.1:\(try #require(SimulatorProcess.port(in: server.output.text)))"
                let bought = try await Program.run(["simulate", "buy", "anna", "sword", "--at", store, "--json"])
                #expect(bought.code == 0)
                if proof.isEmpty { proof = try await Program.run(["simulate", "proof", "anna", "--at", store]).output }
                let key = try String(contentsOfFile: folder + "/data/key", encoding: .utf8)
                let text = String(decoding: proof, as: UTF8.self).replacing("\n", with: "")
                answers.append(try #require(await server.post(Purchase.body(text), key: key)))
                // The ledger outlives the store: what another store sells is another sale.
                let other = try await Program.run(["simulate", "proof", "anna", "--at", store]).text.replacing(
                    "\n",
                    with: ""
                )
                answers.append(try #require(await server.post(Purchase.body(other), key: key)))
                files.append(try Self.kept(in: folder + "/data"))
                server.stop()
                #expect(await server.exitCode() == 0)
            }
            #expect(answers.map(\.result) == ["recorded", "already_recorded", "already_recorded", "recorded"])
            #expect(files[0] == files[1])
        }
    }

    @Test(arguments: ["key", "assay.json", "simulator/roots", "simulator/merchant-key.p8"])
    func whatWasDeletedIsMadeAgain(name: String) async throws {
        try await TemporaryFolder.with { folder in
            try SimulatorProcess.makeAuthority(in: folder + "/data/simulator")
            for _ in 0..<2 {
                let server = try await ServerProcess(Self.demo, in: folder)
                #expect(await server.output.until("Ctrl-C stops both"))
                #expect(FileManager.default.fileExists(atPath: "\(folder)/data/\(name)"))
                server.stop()
                #expect(await server.exitCode() == 0)
                try FileManager.default.removeItem(atPath: "\(folder)/data/\(name)")
            }
        }
    }

    @Test(arguments: [
        ("merchant-key.p8", "merchant-key.p8 is no private key"),
        ("authority/jws-leaf.der", "jws-leaf.der is not what it was"),
    ])
    func aDamagedStoreSaysWhichFileItIs(name: String, sentence: String) async throws {
        try await TemporaryFolder.with { folder in
            try SimulatorProcess.makeAuthority(in: folder + "/data/simulator")
            try Data("garbage".utf8).write(to: URL(filePath: "\(folder)/data/simulator/\(name)"))
            let run = try await Program.run(Self.demo, in: folder)
            #expect(run.code == 2)
            #expect(run.errorText.contains(sentence), "\(run.errorText)")
        }
    }

    @Test func whatTheStoreSignsIsForThisFolderOnly() async throws {
        try await Self.with { folder, _, greeting in
            let store = "http://127.0.0.1:\(try #require(SimulatorProcess.port(in: greeting)))"
            #expect(try await Program.run(["simulate", "buy", "anna", "sword", "--at", store]).code == 0)
            let proof = try await Program.run(["simulate", "proof", "anna", "--at", store]).output
            let trusted = try await Program.run(
                ["verify", "--json", "--roots", folder + "/data/simulator/roots", "-"],
                input: proof
            )
            #expect(trusted.code == 1)
            #expect(try JSONDocument(trusted.output).root.object?["verdict"]?.string == "test_signed")
            // To everybody else it is what it is.
            let untrusted = try await Program.run(["verify", "--json", "-"], input: proof)
            #expect(try JSONDocument(untrusted.output).root.object?["verdict"]?.string == "forged")
        }
    }

    @Test func withoutTheStoreThereIsNoDemo() async throws {
        try await TemporaryFolder.with { folder in
            try SimulatorProcess.makeAuthority(in: folder + "/data/simulator")
            let store = try await SimulatorProcess(in: folder)
            let words = ["demo", "--listen", "127.0.0.1:0", "--simulator", "127.0.0.1:\(store.port)"]
            let run = try await Program.run(words, in: folder)
            #expect(run.code == 2 && run.errorText.contains("another program does already"))
            // And the other way round.
            let other = try await Program.run(
                ["demo", "--listen", "127.0.0.1:\(store.port)", "--simulator", "127.0.0.1:0"],
                in: folder
            )
            #expect(other.code == 2 && other.errorText.contains("not_started"))
        }
    }

    // MARK: Walking

    private static let programFolder = URL(filePath: Program.path).deletingLastPathComponent().path

    private static func with(_ body: (String, ServerProcess, String) async throws -> Void) async throws {
        try await TemporaryFolder.with { folder in
            try SimulatorProcess.makeAuthority(in: folder + "/data/simulator")
            let server = try await ServerProcess(demo, in: folder)
            #expect(await server.output.until("Ctrl-C stops both"))
            try await body(folder, server, server.output.text)
        }
    }

    /// Lines that `code` takes, those that go on in the next one joined.
    private static func commands(in text: String, _ code: (Substring) -> String?) -> [String] {
        text.replacing("\\\n", with: "").split(separator: "\n").compactMap(code)
    }

    private static func decisions(_ json: JSONObject) -> [String] {
        (json["transactions"]?.array.map(Array.init) ?? []).compactMap { $0.object?["decision"]?.string }
    }

    /// What the last command answers.
    private static func walk(_ commands: [String], in folder: String) async throws -> JSONObject {
        let text = try await shell(commands, in: folder)
        let last = try #require(text.split(separator: "\n").last)
        return try #require(try? JSONDocument(Array(last.utf8)).root.object, "\(text)")
    }

    /// Whether a listing comes to say so: the store tells what happens in its own time.
    private static func list(
        _ commands: [String],
        in folder: String,
        until decisions: [String]
    ) async throws -> Bool {
        for _ in 0..<200 {
            if Self.decisions(try await walk(commands, in: folder)) == decisions { return true }
            try await Task.sleep(for: .milliseconds(100))
        }
        return false
    }

    private static func shell(_ commands: [String], in folder: String) async throws -> String {
        let script = (["export PATH=\"\(programFolder):$PATH\"", "set -e"] + commands).joined(separator: "\n")
        return try await Program.run(["-c", script], instead: "/bin/bash", in: folder).text
    }

    /// Everything but the ledger.
    private static func kept(in folder: String) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder) where !name.hasPrefix("ledger") {
            if let data = FileManager.default.contents(atPath: "\(folder)/\(name)") { files[name] = Array(data) }
        }
        return files
    }
}
