import Foundation
import TestSupport
import Testing

@testable import Server

/// Completions and the manual page, as shells and man read them.
@Suite(.enabled(if: Program.isBuilt, Program.absence)) struct ManualTests {
    private static func has(_ tool: String) -> Bool { FileManager.default.isExecutableFile(atPath: tool) }

    private static func completion(_ shell: String, in folder: String) async throws -> String {
        let run = try await Program.run(["completion", shell])
        #expect(run.code == 0)
        let file = "\(folder)/completion.\(shell)"
        try ServerFolder.write(run.output, file)
        return file
    }

    /// Each row: what stands on the line, and what bash offers for its last word.
    @Test(arguments: [
        (line: ["assay", "ord"], offers: ["orders"]),
        (["assay", "orders", "c"], ["create", "cancel"]),
        (["assay", "orders", "create", "--pro"], ["--product"]),
        (["assay", "config", ""], ["check", "print"]),
        (["assay", "serve", "--li"], ["--listen", "--limits"]),
        (["assay", "simulate", "--pa"], ["--pace"]),
        (["assay", "nonsense", "--x"], []),
    ])
    func bashCompletes(line: [String], offers: [String]) async throws {
        try await TemporaryFolder.with { folder in
            let file = try await Self.completion("bash", in: folder)
            let script =
                "source \(file); COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _assay; printf '%s\\n' \"${COMPREPLY[@]}\""
            let run = try await Program.run(["-c", script, "bash"] + line, instead: "/bin/bash")
            #expect(run.errorText == "")
            let offered = run.text.split(separator: "\n").map(String.init)
            for word in offers { #expect(offered.contains { $0.hasPrefix(word) }, "\(offered)") }
            if offers.isEmpty { #expect(offered.isEmpty) }
        }
    }

    @Test(.enabled(if: has("/usr/bin/zsh"), "zsh is not installed")) func zshReadsItsOwn() async throws {
        try await TemporaryFolder.with { folder in
            let file = try await Self.completion("zsh", in: folder)
            let run = try await Program.run(["-n", file], instead: "/usr/bin/zsh")
            #expect(run.code == 0 && run.errorText == "")
        }
    }

    @Test(.enabled(if: has("/usr/bin/fish"), "fish is not installed")) func fishCompletes() async throws {
        try await TemporaryFolder.with { folder in
            let file = try await Self.completion("fish", in: folder)
            let run = try await Program.run(
                ["--no-config", "-c", "source \(file); complete -C 'assay orders can'"],
                instead: "/usr/bin/fish"
            )
            #expect(run.text.hasPrefix("cancel\t"), "\(run.text)\(run.errorText)")
        }
    }

    @Test func aShellThatIsNoneIsRefused() async throws {
        let run = try await Program.run(["completion", "bsh"])
        #expect(run.code == 2 && run.errorText.contains("bash"))
    }

    @Test(.enabled(if: has("/usr/bin/groff"), "groff is not installed")) func theManualPageIsGood() async throws {
        try await TemporaryFolder.with { folder in
            let page = try await Program.run(["man"])
            try ServerFolder.write(page.output, folder + "/assay.1")
            let words = ["-man", "-Tutf8", "-ww", "-P-c", folder + "/assay.1"]
            let shown = try await Program.run(words, instead: "/usr/bin/groff")
            #expect(shown.code == 0 && shown.errorText == "", "\(shown.errorText)")
            for command in CommandLineTable.all.commands {
                #expect(page.text.contains(".SS \"\(command.name.replacing("-", with: "\\-"))"), "\(command.name)")
            }
            #expect(page.text.contains("\\fB\\-\\-idempotency\\-key\\fR \\fIKEY\\fR"))
            #expect(shown.text.contains("Lists orders."))
        }
    }
}
