import Foundation
import Testing

/// `assay webhook listen`, beside a server that sends.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct WebhookListenTests {
    /// Sends it a test message, which stands for nothing.
    ///
    /// - Returns: what the server says of it.
    private static func send(_ server: ServerProcess, to listening: BesideProcess) async throws -> String {
        let endpoint = try #require(listening.errors.text.firstMatch(of: /whe_[0-9a-f]+/)).output
        let path = "/v1/webhooks/\(endpoint)/test"
        return try #require(await server.talk { $0.post([], to: path) } ?? nil).text
    }

    private static func with(
        under wrapper: [String] = [],
        _ body: (ServerProcess, BesideProcess) async throws -> Void
    ) async throws {
        try await with(under: wrapper) { _, server, listening in try await body(server, listening) }
    }

    private static func with(
        under wrapper: [String] = [],
        _ body: (ServerFolder, ServerProcess, BesideProcess) async throws -> Void
    ) async throws {
        try await ServerFolder.with { folder in
            let text = String(decoding: try Data(contentsOf: URL(filePath: folder.configuration)), as: UTF8.self)
            let webhooks = #""webhooks":{"allowed_addresses":"127.0.0.0/8","plain_hosts":"localhost"}"#
            let changed = "{\(webhooks)," + text.dropFirst()
            try ServerFolder.write(Array(changed.utf8), folder.configuration)
            let server = try await folder.serve()
            let there = ["--server", "http://127.0.0.1:\(server.port)", "--key-file", folder.path + "/key"]
            let words = ["webhook", "listen", "--include-test-signed"] + there
            let listening = try BesideProcess(words, under: wrapper, in: nil)
            #expect(await listening.errors.until("Ctrl-C ends it"), "\(listening.errors.text)")
            try await body(folder, server, listening)
            server.stop()
            #expect(await server.exitCode() == 0)
        }
    }

    @Test func whatArrivesIsShownUntilItIsStopped() async throws {
        try await Self.with { server, listening in
            let answer = try await Self.send(server, to: listening)
            #expect(answer.contains("\"status\":204"))
            #expect(await listening.output.until("\n"))
            listening.send(SIGTERM)
            #expect(await listening.exitCode() == 0)
            #expect(await server.get("/v1/webhooks")?.text.contains("[]") == true)
        }
    }

    /// `assay webhooks test` asks whether a receiver takes what it is sent.
    @Test func aTestEndsAsItsReceiverAnswers() async throws {
        try await Self.with { folder, server, listening in
            let there = ["--server", "http://127.0.0.1:\(server.port)", "--key-file", folder.path + "/key"]
            let taken = try #require(listening.errors.text.firstMatch(of: /whe_[0-9a-f]+/)).output
            let run = try await Program.run(["webhooks", "test", String(taken)] + there)
            #expect(run.code == 0 && run.text.contains("status: 204\n"), "\(run.text)\(run.errorText)")
            let rows = [
                ("http://localhost:\(server.port)/hook", "status: 404\n"), ("http://localhost:1/", "failure: "),
            ]
            for (url, said) in rows {
                let made = try await Program.run(["webhooks", "create", "--url", url] + there)
                let id = try #require(made.text.firstMatch(of: /whe_[0-9a-f]+/), "\(made.errorText)").output
                for flags in [[], ["--json"]] {
                    let run = try await Program.run(["webhooks", "test", String(id)] + flags + there)
                    #expect(run.code == 1 && run.errors == [], "\(run.errorText)")
                    #expect(!flags.isEmpty || run.text.contains(said), "\(run.text)")
                }
                #expect(try await Program.run(["webhooks", "delete", String(id)] + there).code == 0)
            }
            listening.send(SIGTERM)
            #expect(await listening.exitCode() == 0)
        }
    }

    /// As before `| head`: what nobody has seen is not acknowledged, and the endpoint does not stay.
    @Test(.timeLimit(.minutes(15))) func itEndsWhenNobodyReads() async throws {
        let piped = ["/bin/sh", "-c", "{ \"$0\" \"$@\"; echo \"ended with $?\" >&2; } | /usr/bin/head -n 0"]
        try await Self.with(under: piped) { server, listening in
            let answer = try await Self.send(server, to: listening)
            #expect(answer.contains("\"status\":503"))
            #expect(await listening.errors.until("ended with 2"), "\(listening.errors.text)")
            #expect(listening.errors.text.contains("standard output cannot be written"))
            #expect(await server.get("/v1/webhooks")?.text.contains("[]") == true)
        }
    }
}
