import Testing

@testable import Server

@Suite struct ArgumentsTests {
    private static let command = CommandShape(
        name: "verify",
        summary: "Examine files.",
        positionals: "FILE...",
        positionalsRange: 1...3,
        options: [
            CommandShape.Option("json", "Print JSON."),
            CommandShape.Option("bundle-id", value: "ID", "The app."),
            CommandShape.Option("root", value: "FILE", "A root."),
        ],
        notes: ["More words."],
        examples: [("assay verify a.jws", "one file")]
    )

    @Test func wordsAreSorted() throws {
        let words = ["a", "--bundle-id", "x=y", "--root=r1", "-", "--json", "--", "--json"]
        let arguments = try Arguments(words, for: Self.command)
        #expect(arguments.positionals == ["a", "-", "--json"])
        #expect(arguments.value("bundle-id") == "x=y")
        #expect(arguments.isSet("json") && !arguments.wantsHelp)
        #expect(arguments.value("nothing") == nil && !arguments.isSet("nothing"))
        #expect(arguments.flags == ["bundle-id": "x=y", "root": "r1", "json": ""])
    }

    @Test(arguments: [
        (["a", "--bundle-id=--x=y"], "--x=y"), (["a", "--bundle-id="], ""), (["--bundle-id", "-", "a"], "-"),
        (["--bundle-id", "-5", "a"], "-5"),
    ])
    func valuesAreTakenAsTheyAre(words: [String], value: String) throws {
        #expect(try Arguments(words, for: Self.command).value("bundle-id") == value)
    }

    @Test(arguments: [
        (["a", "--jsn"], "there is no flag --jsn; did you mean \"--json\"?"),
        (["a", "--bundle_id=x"], "there is no flag --bundle_id; did you mean \"--bundle-id\"?"),
        (["a", "--zzz"], "there is no flag --zzz"), (["a", "-j"], "there is no flag -j"),
        (["a", "--json=yes"], "--json takes no value"), (["a", "--json", "--json"], "--json stands there twice"),
        (["a", "--bundle-id"], "--bundle-id needs a value (--bundle-id ID)"),
        (["a", "--bundle-id", "--json"], "--bundle-id needs a value (--bundle-id ID)"),
        (["--bundle-id=x", "a", "--bundle-id=y"], "--bundle-id stands there twice"),
        (["a", "b", "c", "d"], "\"d\" is one word too many"), ([], "FILE... is missing"),
        (["--json"], "FILE... is missing"),
        (["--", "a", "b", "c", "--json"], "\"--json\" is one word too many"),
    ])
    func whatCannotBeObeyedIsRefused(words: [String], message: String) {
        do throws(UsageFault) {
            _ = try Arguments(words, for: Self.command)
            Issue.record("was taken")
        } catch {
            #expect(error.description == message)
        }
        #expect(UsageFault.exitCode == 2)
    }

    @Test(arguments: [["--help"], ["-h"], ["a", "b", "c", "d", "--zzz", "--help"]])
    func helpIsGivenWhateverElseIsWrong(words: [String]) throws {
        #expect(try Arguments(words, for: Self.command).wantsHelp)
    }

    @Test func helpAfterTheFlagsIsAFile() throws {
        #expect(try Arguments(["--", "--help"], for: Self.command).positionals == ["--help"])
    }

    @Test func helpShowsFlagsAndExamples() {
        let expected = """
            Examine files.

            Usage:
              assay verify [flags] FILE...

            Flags:
              --json          Print JSON.
              --bundle-id ID  The app.
              --root FILE     A root.
              --help          Print this help.

            More words.

            Examples:
              # one file
              assay verify a.jws

            """
        #expect(Self.command.helpText(program: "assay") == expected)
    }
}

@Suite struct CommandTableTests {
    private let table = CommandTable(
        program: "assay",
        summary: "Records purchases.",
        commands: [
            CommandShape(name: "serve", summary: "Serve."),
            CommandShape(name: "config print", summary: "Print."),
            CommandShape(name: "config check", summary: "Check."),
            CommandShape(name: "play", summary: "Play."),
            CommandShape(name: "play card", summary: "Play one.", positionals: "CARD", positionalsRange: 0...1),
        ]
    )

    @Test(arguments: [
        (["serve", "--x"], "serve", ["--x"]), (["config", "check"], "config check", []),
        (["config", "print", "serve"], "config print", ["serve"]), (["play"], "play", []),
        (["play", "--fast"], "play", ["--fast"]), (["play", "card", "king"], "play card", ["king"]),
    ])
    func commandsAreFoundByTheirWords(words: [String], name: String, rest: [String]) throws {
        let found = try table.find(words)
        #expect(found.command.name == name)
        #expect(found.rest == rest)
    }

    @Test(arguments: [["config", "--help"], ["config", "-h"], ["config", "--help", "print"]])
    func aWordThatNeedsAnotherOneHasAHelp(words: [String]) {
        let expected = """
            Usage:
              assay config COMMAND [flags]

            Commands:
              config print  Print.
              config check  Check.

            assay config COMMAND --help explains one of them.

            """
        #expect(table.groupHelp(words) == expected)
    }

    /// A command's help is its own, and nobody's is a fault.
    @Test(arguments: [
        [], ["config"], ["config", "print", "--help"], ["serve", "--help"], ["play", "-h"], ["none", "-h"],
    ])
    func nothingElseIsAGroup(words: [String]) { #expect(table.groupHelp(words) == nil) }

    @Test(arguments: [
        ([], "which command? (assay --help lists them)"),
        (["serv"], "there is no command \"serv\"; did you mean \"serve\"? (assay --help lists all)"),
        (["zzzzzz"], "there is no command \"zzzzzz\" (assay --help lists all)"),
        (["config"], "\"config\" needs one more word (there is config print, config check)"),
        (["config", "prin"], "\"config\" needs one more word (there is config print, config check)"),
        (
            ["play", "crad"],
            "there is no command \"play crad\"; did you mean \"play card\"? (assay --help lists all)"
        ),
    ])
    func othersAreRefused(words: [String], message: String) {
        do throws(UsageFault) {
            _ = try table.find(words)
            Issue.record("was found")
        } catch {
            #expect(error.description == message)
        }
    }

    @Test func helpListsAll() {
        #expect(table.helpText.contains("  serve         Serve.\n  config print  Print.\n"))
    }
}

@Suite struct SuggestionTests {
    @Test(
        arguments: [
            ("bundleid", "bundle_id"), ("bundle_di", "bundle_id"), ("BundleID", "bundle_id"),
            ("bundle-id", "bundle_id"),
            ("ap", "app"), ("nmae", "name"), ("zzz", nil), ("", nil), (String(repeating: "a", count: 100_000), nil),
        ] as [(String, String?)]
    )
    func theNearestNameIsMeant(word: String, nearest: String?) {
        #expect(Suggestion.nearest(to: word, among: ["app", "name", "bundle_id", "environments"]) == nearest)
    }
}
