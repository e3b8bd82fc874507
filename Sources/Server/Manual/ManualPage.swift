/// The page for `man assay`, made from the one table that the program itself reads.
struct ManualPage {
    let table: CommandTable
    let version: String

    var text: String {
        let head = [
            ".TH \(table.program.uppercased()) 1 \"\" \"\(table.program) \(version)\"",
            ".SH NAME", "\(table.program) \\- verifies App Store purchases and records each of them once",
            ".SH SYNOPSIS", ".B \(table.program)", ".I COMMAND", "[\\fIflags\\fR]",
            ".SH DESCRIPTION", Self.escaped(table.summary),
            "Each command explains itself with \\fB\\-\\-help\\fR.",
            ".SH COMMANDS",
        ]
        return (head + table.commands.flatMap(Self.command) + Self.tail).joined(separator: "\n") + "\n"
    }

    private static func command(_ shape: CommandShape) -> [String] {
        let usage = [shape.name, shape.options.isEmpty ? "" : "[flags]", shape.positionals].filter { !$0.isEmpty }
        var lines = [".SS \"\(escaped(usage.joined(separator: " ")))\"", escaped(shape.summary)]
        for option in shape.options {
            lines += [".TP", "\\fB\(escaped("--" + option.name))\\fR" + value(option), escaped(option.summary)]
        }
        for note in shape.notes { lines += [".PP"] + note.split(separator: "\n").map { escaped(String($0)) } }
        for example in shape.examples {
            lines += [".PP", escaped(example.does) + ":", ".PP", ".RS 4", ".nf", escaped(example.line), ".fi", ".RE"]
        }
        return lines
    }

    private static func value(_ option: CommandShape.Option) -> String {
        option.value.map { " \\fI\(escaped($0))\\fR" } ?? ""
    }

    private static let tail = [
        ".SH EXIT STATUS", "0 when it was done, 1 when what was asked for is not so or is refused, 2 when the command",
        "could not be obeyed or somebody could not be asked. Commands that differ say so.",
        ".SH ENVIRONMENT", ".TP", ".B ASSAY_CONFIG", "The configuration's file, as with \\fB\\-\\-config\\fR.",
        ".TP", ".B ASSAY_SERVER", "Where the commands that ask a server find it.",
        ".TP", ".B ASSAY_KEY_FILE", "A file with the key that they open it with.",
        ".TP", ".B ASSAY_KEY", "The key itself.",
        ".TP", ".B NO_COLOR", "When it is set, nothing is coloured. Nothing is, either, where no terminal is.",
    ]

    /// As text that roff takes for nothing else: no command at the beginning of a line, no escape inside.
    private static func escaped(_ text: String) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": shown.append(contentsOf: "\\e".unicodeScalars)
            case "-": shown.append(contentsOf: "\\-".unicodeScalars)
            case "\"": shown.append(contentsOf: "\\(dq".unicodeScalars)
            case "'": shown.append(contentsOf: "\\(aq".unicodeScalars)
            default:
                // By its number: not every roff reads UTF-8.
                let code = String(scalar.value, radix: 16, uppercase: true)
                let zeros = String(repeating: "0", count: max(0, 4 - code.utf8.count))
                shown.append(contentsOf: (scalar.isASCII ? String(scalar) : "\\[u\(zeros)\(code)]").unicodeScalars)
            }
        }
        let line = String(shown)
        return line.hasPrefix(".") ? "\\&" + line : line
    }
}
