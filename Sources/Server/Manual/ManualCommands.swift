/// The commands that describe the others.
enum ManualCommands {
    static let all = [completion, manual]

    private static let completion = CommandShape(
        name: "completion",
        summary: "Prints what a shell needs to complete commands and flags.",
        positionals: "bash|zsh|fish",
        positionalsRange: 1...1,
        notes: ["The Debian package brings all three."],
        examples: [("source <(assay completion bash)", "for this shell")]
    )

    private static let manual = CommandShape(
        name: "man",
        summary: "Prints the manual page, for man.",
        examples: [("assay man | man -l -", "read it without installing it")]
    )

    /// - Throws: ``UsageFault`` for a shell that is none of ours.
    static func run(_ command: String, _ arguments: Arguments, _ table: CommandTable) throws(UsageFault) -> Int32 {
        guard command == "completion" else {
            Console.write(ManualPage(table: table, version: Version.text).text)
            return 0
        }
        let names = Completion.Shell.allCases.map(\.rawValue)
        guard let name = arguments.positionals.first, let shell = Completion.Shell(rawValue: name) else {
            let word = arguments.positionals.first ?? ""
            throw UsageFault("there is no completion for \(word)" + Suggestion.phrase(for: word, among: names))
        }
        Console.write(Completion(table: table).script(for: shell))
        return 0
    }
}
