import Encoding

/// One operation of the API as a command: what it sends, and how its answer is shown.
struct Question: Sendable {
    /// A flag, and the member of the query or of the body that it becomes.
    struct Field: Sendable {
        enum Kind: Sendable {
            case text, whole
            /// Words with commas between them.
            case list
            /// What a switch stands for.
            case fixed(Bool)
            /// The same for none.
            case null
        }

        let option: CommandShape.Option
        let member: String
        let kind: Kind
        var isNeeded = false

        static func text(_ flag: String, _ value: String, _ summary: String, as member: String) -> Field {
            Field(option: .init(flag, value: value, summary), member: member, kind: .text)
        }

        static func whole(_ flag: String, _ summary: String, as member: String) -> Field {
            Field(option: .init(flag, value: "N", summary), member: member, kind: .whole)
        }

        static func list(_ flag: String, _ summary: String, as member: String) -> Field {
            Field(option: .init(flag, value: "LIST", summary), member: member, kind: .list)
        }

        static func fixed(_ flag: String, _ summary: String, as member: String, _ value: Bool = true) -> Field {
            Field(option: .init(flag, summary), member: member, kind: .fixed(value))
        }

        static func null(_ flag: String, _ summary: String, as member: String) -> Field {
            Field(option: .init(flag, summary), member: member, kind: .null)
        }

        var needed: Field {
            var field = self
            field.isNeeded = true
            return field
        }
    }

    /// A list in the answer.
    struct Rows: Sendable {
        let member: String
        /// Members of a row, for the table; a path goes on inside with a full stop.
        let columns: [String]
        /// What names the place to go on from; nil when all comes at once.
        var place: String?
    }

    /// Two words, the noun first.
    let name: String
    let summary: String
    /// Whether it is a POST.
    var isChange = false
    /// Whether each time that it is sent is meant: then it has no name under which it is done once.
    var isRepeatable = false
    /// Each `{}` takes a word of the command line.
    let path: String
    /// What the help calls those words.
    var words = ""
    var fields: [Field] = []
    /// The names of flags of which at least one is to be given: without all of them it would say nothing.
    var oneOf: [String] = []
    /// Nil for one object.
    var rows: Rows?
    /// The member of the answer that names where to go on, and the member as which it is sent with the same body, until there is
    /// none any more.
    var goesOn: (next: String, place: String)?
    /// Whether what was asked for is so, by the answer. Where none is given it always is.
    var isSo: @Sendable (JSONObject) -> Bool = { _ in true }
    var notes: [String] = []
    var examples: [(line: String, does: String)] = []

    var hasName: Bool { isChange && !isRepeatable }

    /// How many words of the command line the path takes.
    var wordCount: Int { path.utf8.count { $0 == UInt8(ascii: "{") } }

    /// How a server is reached, and how its answers are shown.
    static let access: [CommandShape.Option] =
        ServerAccess.options + [.init("json", "JSON, one object a line, instead of a table.")]

    var shape: CommandShape {
        var options = fields.map(\.option)
        if rows?.place != nil {
            options += [
                .init("limit", value: "N", "Rows of a page; 100 if not given."),
                .init("all", "All pages, one after another."),
                .init("after", value: "PLACE", "Where to go on: what \"more\" named."),
            ]
        }
        if hasName { options.append(ChangeName.option) }
        options += Self.access
        return CommandShape(
            name: name,
            summary: summary,
            positionals: words,
            positionalsRange: wordCount...wordCount,
            options: options,
            notes: notes + ["Exits with 0 when it was done, 1 when the server says no, 2 when it could not be asked."],
            examples: examples
        )
    }
}
