/// All commands of a program: finds the one that is asked for, and prints what there is.
struct CommandTable: Sendable {
    let program: String
    /// One sentence on what the program is.
    let summary: String
    let commands: [CommandShape]

    /// Splits the words of a command line into the command that the first ones name and the rest.
    func find(_ words: [String]) throws(UsageFault) -> (command: CommandShape, rest: [String]) {
        guard let first = words.first else {
            throw UsageFault("which command?", hint: "\(program) --help lists them")
        }
        for command in commands {
            let name = command.name.split(separator: " ").map(String.init)
            if words.starts(with: name) { return (command, Array(words.dropFirst(name.count))) }
        }
        let group = commands.filter { $0.name.hasPrefix(first + " ") }.map(\.name)
        guard group.isEmpty else {
            throw UsageFault("\"\(first)\" needs one more word", hint: "there is " + group.joined(separator: ", "))
        }
        throw UsageFault(
            "there is no command \"\(first)\"" + Suggestion.phrase(for: first, among: commands.map(\.name)),
            hint: "\(program) --help lists all"
        )
    }

    /// The help of the program, for standard output.
    var helpText: String {
        let rows = commands.map { ($0.name, $0.summary) }
        return """
            \(summary)

            Usage:
              \(program) COMMAND [flags]

            Commands:
            \(CommandShape.columns(rows))

            \(program) COMMAND --help explains one of them.

            """
    }
}
