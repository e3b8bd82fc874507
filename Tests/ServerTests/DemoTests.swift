import Encoding
import Foundation
import Testing

/// The first minute: what the demo prints and what the README says must work as it stands there.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct DemoTests {
    private static let demo = ["demo", "--data", "data", "--listen", "127.0.0.1:0"]

    @Test func theCommandsThatItPrintsWork() async throws {
        try await TemporaryFolder.with { folder in
            let server = try await ServerProcess(Self.demo, in: folder)
            #expect(await server.output.until("Ctrl-C stops it."))
            let greeting = server.output.text.replacing("\\\n", with: "")
            let commands = greeting.split(separator: "\n").filter { $0.hasPrefix("  curl") }.map(String.init)
            try #require(commands.count == 3)
            let first = try await Self.shell(commands[0], in: folder)
            #expect(first["result"]?.string == "recorded")
            let again = try await Self.shell(commands[0], in: folder)
            #expect(again["result"]?.string == "already_recorded")
            #expect(first["transactions"]?.raw == again["transactions"]?.raw)
            let listed = try await Self.shell(commands[1], in: folder)
            #expect(listed["transactions"]?.raw == first["transactions"]?.raw)
            let metrics = try await Program.run(["-c", commands[2]], instead: "/bin/bash", in: folder)
            #expect(metrics.text.contains("assay_submissions_total"))
            server.stop()
            #expect(await server.exitCode() == 0)
        }
    }

    @Test func theCommandOfTheReadmeWorks() async throws {
        let readme = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../README.md").path
        let text = try String(contentsOfFile: readme, encoding: .utf8)
        let lines = text.replacing("\\\n", with: "").split(separator: "\n")
        let command = try #require(lines.first { $0.hasPrefix("curl ") })
        try await TemporaryFolder.with { folder in
            let server = try await ServerProcess(Self.demo, in: folder)
            let here = command.replacing("127.0.0.1:8080", with: "127.0.0.1:\(server.port)")
            #expect(try await Self.shell(String(here), in: folder)["result"]?.string == "recorded")
        }
    }

    @Test func aSecondStartFindsEverything() async throws {
        try await TemporaryFolder.with { folder in
            var answers: [WireClient.Answer] = []
            for _ in 0..<2 {
                let server = try await ServerProcess(Self.demo, in: folder)
                let key = try String(contentsOfFile: folder + "/data/key", encoding: .utf8)
                let body = try Data(contentsOf: URL(filePath: folder + "/data/purchase.json"))
                answers.append(try #require(await server.post(Array(body), key: key)))
                server.stop()
                #expect(await server.exitCode() == 0)
            }
            #expect(answers.map(\.result) == ["recorded", "already_recorded"])
            #expect(answers[0].transactions == answers[1].transactions)
        }
    }

    @Test func itsSampleIsAsItSays() async throws {
        try await TemporaryFolder.with { folder in
            let server = try await ServerProcess(Self.demo, in: folder)
            server.stop()
            _ = await server.exitCode()
            let body = try Data(contentsOf: URL(filePath: folder + "/data/purchase.json"))
            let proof = try #require(try JSONDocument(Array(body)).root.object?["proof"]?.string)
            let trusted = try await Program.run(
                ["verify", "--json", "--roots", folder + "/data/roots", "-"],
                input: Array(proof.utf8)
            )
            #expect(trusted.code == 1)
            #expect(try JSONDocument(trusted.output).root.object?["verdict"]?.string == "test_signed")
            // To everybody else it is what it is.
            let untrusted = try await Program.run(["verify", "--json", "-"], input: Array(proof.utf8))
            #expect(try JSONDocument(untrusted.output).root.object?["verdict"]?.string == "forged")
        }
    }

    private static func shell(_ command: String, in folder: String) async throws -> JSONObject {
        let run = try await Program.run(["-c", command], instead: "/bin/bash", in: folder)
        return try #require(try? JSONDocument(run.output).root.object, "\(run.text)\(run.errorText)")
    }
}
