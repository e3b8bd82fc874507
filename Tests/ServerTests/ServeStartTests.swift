import Encoding
import Foundation
import PurchaseModel
import TestSupport
import Testing

/// A server that cannot start says why in a line, and ends.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct ServeStartTests {
    @Test func oneFolderHasOneServer() async throws {
        try await ServerFolder.with { folder in
            let first = try await folder.serve()
            let second = try await Self.start(folder)
            #expect(second.code == 2)
            #expect(try Self.why(second) == "another process has the data folder open")
            // The first one is not disturbed.
            #expect(await first.post(Purchase.body(try Purchase.jws(1)))?.result == "recorded")
        }
    }

    @Test func aPortIsOnlyOnce() async throws {
        try await ServerFolder.with { folder in
            let first = try await folder.serve()
            let other = folder.path + "/other-ledger"
            let second = try await Self.start(folder, "--listen", "127.0.0.1:\(first.port)", "--data", other)
            #expect(second.code == 2)
            #expect(
                try Self.why(second) == "cannot listen on 127.0.0.1, port \(first.port): another program does already"
            )
        }
    }

    @Test func anAddressOfAnotherMachineIsNone() async throws {
        try await ServerFolder.with { folder in
            let run = try await Self.start(folder, "--listen", "192.0.2.1:80")
            #expect(run.code == 2)
            #expect(try Self.why(run) == "cannot listen on 192.0.2.1, port 80: this machine has no such address")
        }
    }

    @Test(arguments: ["file", "file/ledger", "none/ledger"])
    func aFolderThatCannotBeUsedIsNamed(path: String) async throws {
        try await ServerFolder.with { folder in
            try ServerFolder.write([], folder.path + "/file")
            let run = try await Self.start(folder, "--data", "\(folder.path)/\(path)")
            #expect(run.code == 2)
            #expect(try Self.why(run).contains("\(folder.path)/\(path.prefix(4))"))
        }
    }

    @Test(arguments: [
        ("broken.der", "0garbage", "no certificate"),
        ("broken.pem", "-----BEGIN CERTIFICATE-----\nAAAA", "there is none"),
        (
            "damaged.pem", "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n", "there is none"
        ), ("empty.crt", "", "there is none"),
    ])
    func aCertificateThatIsNoneIsNamed(name: String, content: String, word: String) async throws {
        try await ServerFolder.with { folder in
            try ServerFolder.write(Array(content.utf8), "\(folder.roots)/\(name)")
            let run = try await Self.start(folder)
            #expect(run.code == 2)
            let why = try Self.why(run)
            #expect(why.hasPrefix("\(folder.roots)/\(name): ") && why.contains(word), "\(why)")
        }
    }

    @Test(arguments: [
        (["--trust-roots", "/none"], "--trust-roots"), (["--config", "/none.json"], "/none.json"),
        (["--listen", "nowhere"], "--listen"), (["--limits-in-flight", "0"], "--limits-in-flight"),
        (["--liste", "127.0.0.1:1"], "--liste"), (["word"], "word"),
    ])
    func whatIsWrongWithTheConfigurationIsUsage(flags: [String], word: String) async throws {
        try await ServerFolder.with { folder in
            let config = flags.first == "--config" ? [] : ["--config", folder.configuration]
            let run = try await Program.run(["serve"] + config + flags)
            #expect(run.code == 2)
            #expect(run.errorText.contains(word), "\(run.errorText)")
            #expect(run.errorLines.count <= 3)
            #expect(run.output == [])
        }
    }

    @Test func withoutAnythingItSaysWhatIsMissing() async throws {
        try await TemporaryFolder.with { folder in
            let run = try await Program.run(["serve"], in: folder)
            #expect(run.code == 2)
            #expect(run.errorText.contains("apps"))
        }
    }

    static func start(_ folder: ServerFolder, _ flags: String...) async throws -> Program.Run {
        try await Program.run(["serve", "--config", folder.configuration] + flags)
    }

    /// The reason in the only line of the log.
    static func why(_ run: Program.Run) throws -> String {
        let line = try #require(run.errorLines.first)
        #expect(run.errorLines.count == 1)
        let json = try #require(try JSONDocument(Array(line.utf8)).root.object)
        #expect(json["event"]?.string == "not_started")
        return try #require(json["why"]?.string)
    }
}
