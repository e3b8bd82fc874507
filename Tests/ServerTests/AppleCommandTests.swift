import Foundation
import Testing

/// `assay apple …` as whoever helps customers runs it.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct AppleCommandTests {
    private static let token = "7e3fb204-2a6c-4d0f-9d8a-0d6a5e8f4b11"

    private static func key(in folder: String) throws -> String {
        let path = folder + "/key"
        try Data((ServerFolder.key + "\n").utf8).write(to: URL(filePath: path))
        return path
    }

    /// Each row: what is wrong with the words, and what is said of it.
    @Test(arguments: [
        (["order", "M1"], "the app's key is missing"), (["extend", "7", "--key-file", "KEY"], "--days is missing"),
        (["extend", "7", "--days", "91", "--key-file", "KEY"], "--days is a whole number from 1 to 90"),
        (["set-token", token, "--key-file", "KEY"], "--transaction or --customer is needed, and not both"),
        (
            ["set-token", token, "--transaction", "7", "--customer", "ann", "--key-file", "KEY"],
            "--transaction or --customer is needed, and not both"
        ), (["order", "M1", "--wait", "x", "--key-file", "KEY"], "--wait is a whole number from 0 to 86400"),
        (["order", "M1", "--key-file", "/nowhere"], "/nowhere cannot be read"),
        (["order", "M1", "--server", "http://127.0.0.1:1", "--key-file", "KEY"], "no server answers"),
    ])
    func whatCannotBeAskedIsSaid(words: [String], said: String) async throws {
        try await TemporaryFolder.with { folder in
            let key = try Self.key(in: folder)
            let run = try await Program.run(["apple"] + words.map { $0 == "KEY" ? key : $0 })
            #expect(run.code == 2)
            #expect(run.errorText.contains(said))
            #expect(run.output == [])
        }
    }

    @Test func whatTheServerRefusesIsToldWithItsWord() async throws {
        try await ServerFolder.with { folder in
            let server = try await folder.serve()
            let there = ["--server", "http://127.0.0.1:\(server.port)", "--key-file", folder.path + "/key"]
            for words in [
                ["order", "MK1234"], ["extend", "7", "--days", "3"],
                ["extend-all", "pro", "--days", "3", "--storefronts", "DEU,AUT"],
                ["set-token", Self.token, "--customer", "ann"],
            ] {
                let run = try await Program.run(["apple"] + words + there)
                #expect(run.code == 1)
                #expect(run.errorText.contains("no_key: The app has no key of App Store Connect configured."))
            }
            let unknown = try await Program.run(["apple", "show", "ask_1"] + there)
            #expect(unknown.code == 1 && unknown.errorText.contains("not_found"))
            let wrong = folder.path + "/wrong"
            try Data("sk_test_nobody's".utf8).write(to: URL(filePath: wrong))
            let other = try await Program.run(["apple", "show", "ask_1", "--server", there[1], "--key-file", wrong])
            #expect(other.code == 1 && other.errorText.contains("unauthorized"))
        }
    }

    @Test(arguments: ["order", "extend", "extend-all", "set-token"])
    func theHelpHasAnExample(word: String) async throws {
        let run = try await Program.run(["apple", word, "--help"])
        #expect(run.code == 0)
        #expect(run.text.contains("Examples:") && run.text.contains("assay apple \(word)"))
        #expect(run.text.contains("--json") && run.text.contains("Exits with 0"))
    }
}
