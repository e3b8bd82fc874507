import Foundation
import TestSupport
import Testing

/// Servers whose ledger is one PostgreSQL database.
@Suite(.enabled(if: Program.isBuilt, Program.absence), .enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"))
struct SharedDatabaseTests {
    /// All ask both servers for the same purchases: one answer of all says that it is new.
    @Test func ofTwoServersOneRecordsAPurchase() async throws {
        try await Self.withDatabase { folder, flags in
            let servers = [try await folder.serve(flags), try await folder.serve(flags)]
            let bodies = try (Int64(0)..<50).map { Purchase.body(try Purchase.jws($0)) }
            let results = await Threads.run(8) { index in
                WireClient(port: servers[index % 2].port).map { client in
                    bodies.map { client.post($0)?.result ?? "none" }
                } ?? []
            }
            #expect(results.allSatisfy { $0.count == bodies.count })
            for place in bodies.indices {
                let said = results.map { $0[place] }
                #expect(said.count { $0 == "recorded" } == 1)
                #expect(said.count { $0 == "already_recorded" } == 7)
            }
            // What one has recorded the other lists, also after both have ended.
            for server in servers { server.stop() }
            for server in servers { #expect(await server.exitCode() == 0) }
            let third = try await folder.serve(flags)
            #expect(await third.post(bodies[0])?.result == "already_recorded")
            #expect(!FileManager.default.fileExists(atPath: folder.data))
        }
    }

    /// Whoever moves from a folder to a database would deliver all of it again: until the folder is put away none is begun. In a
    /// sandbox nobody minds.
    @Test(.enabled(if: Tampering.hasPython, "python3 is missing: nothing changes a file"))
    func aDatabaseIsNotBegunBesideALedger() async throws {
        try await Self.withDatabase { folder, flags in
            let text = String(decoding: try Data(contentsOf: URL(filePath: folder.configuration)), as: UTF8.self)
            let both = text.replacing(#"["sandbox"]"#, with: #"["sandbox","production"]"#)
            try ServerFolder.write(Array(both.utf8), folder.configuration)
            // Nothing here is Apple's own, so rows are made so.
            let makeReal = "UPDATE transactions SET realm = 0"
            for (number, flags) in [(1, []), (2, flags)] as [(Int64, [String])] {
                let server = try await folder.serve(flags)
                #expect(await server.post(Purchase.body(try Purchase.jws(number)))?.result == "recorded")
                server.stop()
                #expect(await server.exitCode() == 0)
            }
            try Tampering.run(makeReal, folder)
            let run = try await Program.run(["serve", "--config", folder.configuration] + flags)
            #expect(run.code == 2)
            #expect(run.errorLines.contains { $0.contains("there is a ledger in \(folder.data)") })
            try FileManager.default.moveItem(atPath: folder.data, toPath: folder.path + "/put-away")
            let shared = try await folder.serve(flags)
            #expect(await shared.post(Purchase.body(try Purchase.jws(2)))?.result == "already_recorded")
            // Once it has purchases of its own, nothing is asked.
            try TestDatabase.query("SET search_path TO assay; \(makeReal)", of: flags[1])
            try FileManager.default.moveItem(atPath: folder.path + "/put-away", toPath: folder.data)
            let again = try await folder.serve(flags)
            #expect(await again.post(Purchase.body(try Purchase.jws(3)))?.result == "recorded")
        }
    }

    /// Nobody rings at a server when another one commits.
    @Test func aStreamTellsWhatTheOtherServerRecorded() async throws {
        try await Self.withDatabase { folder, flags in
            let servers = [try await folder.serve(flags), try await folder.serve(flags)]
            let bodies = try (Int64(0)..<3).map { Purchase.body(try Purchase.jws($0)) }
            let heard: [[Bool]] = await Threads.run(1) { _ in
                guard let follower = WireClient(port: servers[0].port), let buyer = WireClient(port: servers[1].port),
                    follower.follow()
                else { return [] }
                return bodies.indices.map { place in
                    buyer.post(bodies[place])?.result == "recorded" && follower.hears("id: \(place + 1)\nevent: ")
                        && follower.hears("\n\n")
                }
            }
            #expect(heard == [[true, true, true]])
            // A stop waits for no follower.
            servers[0].stop()
            #expect(await servers[0].exitCode() == 0)
        }
    }

    /// It says that it takes nothing while it takes nothing, and goes on by itself.
    @Test func aServerWithoutItsDatabaseIsNotReady() async throws {
        try await Self.withDatabase { folder, flags in
            let server = try await folder.serve(flags)
            let name = String(flags[1].split(separator: "/").last ?? "")
            #expect(await server.get("/readyz")?.status == 200)
            try TestDatabase.query("ALTER DATABASE \(name) ALLOW_CONNECTIONS false")
            try TestDatabase.query(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '\(name)'"
            )
            let ready = try #require(await server.get("/readyz"))
            #expect(ready.status == 503 && ready.code == "database_unreachable", "\(ready.text)")
            #expect(await server.get("/livez")?.status == 200)
            let body = Purchase.body(try Purchase.jws(1))
            for _ in 0..<3 { #expect(await server.post(body)?.code == "database_unreachable") }
            try TestDatabase.query("ALTER DATABASE \(name) ALLOW_CONNECTIONS true")
            #expect(await server.get("/readyz")?.status == 200)
            #expect(await server.post(body)?.result == "recorded")
            server.stop()
            #expect(await server.exitCode() == 0)
            // Once each, in PostgreSQL's own words; and no other line tells of it at every look for jobs.
            let log = server.errors.text
            let lines = log.split(separator: "\n")
            let lost = lines.filter { $0.contains("database_lost") }
            #expect(lost.count == 1, "\(log)")
            #expect(lost.first?.contains("is not currently accepting connections") == true, "\(log)")
            #expect(lines.count { $0.contains("database_back") } == 1, "\(log)")
            #expect(!log.contains("not_noted") && !log.contains("busy"), "\(log)")
        }
    }

    @Test func aDatabaseThatIsNotThereIsSaidSo() async throws {
        try await ServerFolder.with { folder in
            do {
                _ = try await folder.serve(["--database-url", "postgresql://nobody@127.0.0.1:1/none"])
                Issue.record("it listens")
            } catch let failure as ServerProcess.NotStarted {
                #expect(failure.description.contains("the database server cannot be used: "))
            }
        }
    }

    /// A database of its own, and the flags by which a server takes it.
    ///
    /// It is left behind, for the server that the tests start is thrown away: `DROP DATABASE` waits until every session of
    /// the server has heard of it, and two at once were seen to wait for ever.
    /// Beside the servers that write to it.
    @Test func whatWasProvedAndRefusedIsLookedAtAsInAFolder() async throws {
        try await Self.withDatabase { folder, flags in
            let server = try await folder.serve(flags)
            #expect(await server.post(Purchase.body("no proof"))?.status == 422)
            let id = try #require(await server.post(Purchase.body(try Purchase.jws(1)))?.first("transaction_id"))
            func ledger(_ words: String...) async throws -> Program.Run {
                try await Program.run(["ledger"] + words + flags)
            }
            let refusals = try await ledger("refusals")
            #expect(refusals.code == 0 && refusals.text.hasPrefix("refused: 1\n"), "\(refusals.errorText)")
            let evidence = try await ledger("evidence", "--app", "demo", id)
            #expect(evidence.text.hasPrefix("\(id) coins, sandbox, test-signed\n"), "\(evidence.errorText)")
            #expect(try await ledger("evidence", "--app", "demo", "1").code == 1)
            let other = try await ledger("evidence", "--app", "dem", id)
            #expect(other.code == 2 && other.errorText.contains("the ledger has no app dem; did you mean"))
            #expect(other.errorText.contains("postgresql://"), "\(other.errorText)")
            server.stop()
            #expect(await server.exitCode() == 0)
            let certificates = try await ledger("certificates", "--json")
            #expect(certificates.code == 0 && certificates.text.contains(#""role":"leaf""#), "\(certificates.text)")
            // The configuration says where it is; but a folder that is named is meant.
            let text = String(decoding: try Data(contentsOf: URL(filePath: folder.configuration)), as: UTF8.self)
            let member = #""database":{"url":"\#(try #require(flags.last))"}"#
            let configured = text.replacing(#""listen""#, with: #"\#(member),"listen""#)
            try ServerFolder.write(Array(configured.utf8), folder.configuration)
            let words = ["ledger", "refusals", "--config", folder.configuration]
            let found = try await Program.run(words)
            #expect(found.code == 0 && found.text.hasPrefix("refused: 1\n"), "\(found.errorText)")
            let named = try await Program.run(words + ["--data", folder.data])
            #expect(named.code == 2 && named.errorText.contains(folder.data), "\(named.errorText)")
            #expect(!FileManager.default.fileExists(atPath: folder.data))
        }
    }

    static func withDatabase(_ body: (ServerFolder, [String]) async throws -> Void) async throws {
        let url = try #require(TestDatabase.url)
        let name = TestDatabase.freshName()
        try TestDatabase.query("CREATE DATABASE \(name)")
        let place = (url.lastIndex(of: "/") ?? url.endIndex)
        let flags = ["--database-url", url[..<place] + "/" + name]
        try await ServerFolder.with { try await body($0, flags) }
    }
}
