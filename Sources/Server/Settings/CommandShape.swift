/// What may follow a command's name on the command line.
struct CommandShape: Sendable {
    /// `--name VALUE`, `--name=VALUE`, or a switch.
    struct Option: Sendable, Equatable {
        /// Without the hyphens.
        let name: String
        /// What the help calls the value; nil for a switch.
        let value: String?
        let summary: String

        init(_ name: String, value: String? = nil, _ summary: String) {
            self.name = name
            self.value = value
            self.summary = summary
        }
    }

    /// One or two words: `serve`, `config print`.
    let name: String
    let summary: String
    /// What the help calls the words that are no flags; empty if there may be none.
    var positionals = ""
    var positionalsRange = 0...0
    var options: [Option] = []
    /// Further paragraphs of the help.
    var notes: [String] = []
    /// Whole command lines, each with a word on what it does.
    var examples: [(line: String, does: String)] = []

    var words: [String] { name.split(separator: " ").map(String.init) }

    static let help = Option("help", "Print this help.")

    /// The help of this one command, for standard output.
    func helpText(program: String) -> String {
        let usage = [program, name, options.isEmpty ? "" : "[flags]", positionals].filter { !$0.isEmpty }
        var blocks = [summary, "Usage:\n  " + usage.joined(separator: " ")]
        let rows = (options + [CommandShape.help]).map { option in
            ("--" + option.name + (option.value.map { " " + $0 } ?? ""), option.summary)
        }
        blocks.append("Flags:\n" + CommandShape.columns(rows))
        blocks.append(contentsOf: notes)
        if !examples.isEmpty {
            blocks.append("Examples:\n" + examples.map { "  # \($0.does)\n  \($0.line)" }.joined(separator: "\n"))
        }
        return blocks.joined(separator: "\n\n") + "\n"
    }

    /// Two columns, the second one aligned.
    static func columns(_ rows: [(String, String)]) -> String {
        let width = rows.map(\.0.utf8.count).max() ?? 0
        return rows.map { left, right in
            "  " + left + String(repeating: " ", count: width - left.utf8.count + 2) + right
        }.joined(separator: "\n")
    }
}
