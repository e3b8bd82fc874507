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
        let group = commands.filter { $0.name.hasPrefix(first + " ") }.map(\.name)
        // The longest name first: one command may be the beginning of others.
        for command in commands.sorted(by: { $0.words.count > $1.words.count }) where words.starts(with: command.words)
        {
            let rest = Array(words.dropFirst(command.words.count))
            if let next = rest.first, !next.hasPrefix("-"), command.positionalsRange.upperBound == 0,
                command.name == first,
                !group.isEmpty
            {
                let meant = "\(first) \(next)"
                throw UsageFault(
                    "there is no command \"\(meant)\"" + Suggestion.phrase(for: meant, among: group),
                    hint: "\(program) --help lists all"
                )
            }
            return (command, rest)
        }
        guard group.isEmpty else {
            throw UsageFault("\"\(first)\" needs one more word", hint: "there is " + group.joined(separator: ", "))
        }
        throw UsageFault(
            "there is no command \"\(first)\"" + Suggestion.phrase(for: first, among: commands.map(\.name)),
            hint: "\(program) --help lists all"
        )
    }

    /// The help of a word that is none without another one, such as `orders`, for standard output; `nil` unless that is asked
    /// for.
    func groupHelp(_ words: [String]) -> String? {
        guard let first = words.first, words.count > 1, ["--help", "-h"].contains(words[1]),
            !commands.contains(where: { $0.name == first })
        else { return nil }
        let rows = commands.filter { $0.name.hasPrefix(first + " ") }.map { ($0.name, $0.summary) }
        guard !rows.isEmpty else { return nil }
        return """
            Usage:
              \(program) \(first) COMMAND [flags]

            Commands:
            \(CommandShape.columns(rows))

            \(program) \(first) COMMAND --help explains one of them.

            """
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
