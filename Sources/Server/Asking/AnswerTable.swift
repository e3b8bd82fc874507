import Encoding

/// Answers for people, as tables and as names with their values, or as they came.
struct AnswerTable: Sendable {
    private static let cellMax = 60

    let paint: Paint
    /// Whether each object is written as it came, on one line.
    let isJSON: Bool

    /// What is said of a list without a row.
    var nothing: [UInt8] { isJSON ? [] : Array("nothing\n".utf8) }

    /// Rows under their headings, which stand above the first page with rows only.
    func rows(_ rows: [JSONValue], _ columns: [String], isFirst: Bool) -> [UInt8] {
        guard !isJSON else { return rows.flatMap { Self.line($0.raw) } }
        if rows.isEmpty { return [] }
        let cells = rows.map { row in columns.map { Self.cell(row, $0) } }
        let headings = columns.map { Self.heading($0) }
        let widths = columns.indices.map { index in
            ([headings[index]] + cells.map { $0[index] }).map(\.unicodeScalars.count).max() ?? 0
        }
        var lines = cells.map { Self.padded($0, widths) }
        if isFirst { lines.insert(paint.strong(Self.padded(headings, widths)), at: 0) }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    /// A name and its value on each line; a list's elements each on one.
    func object(_ answer: APIClient.Answer) -> [UInt8] {
        guard !isJSON, let json = answer.json else {
            return answer.body.isEmpty ? [] : Self.line(answer.body)
        }
        return Array(Self.lines(json, "").map { $0 + "\n" }.joined().utf8)
    }

    static func lines(_ json: JSONObject, _ indent: String) -> [String] {
        json.members.flatMap { name, value -> [String] in
            let name = indent + ReportText.printable(name)
            if let inner = value.object { return ["\(name):"] + lines(inner, indent + "  ") }
            guard let rows = value.array else { return ["\(name): \(text(value))"] }
            let rest = rows.map { row in
                row.object.map { $0.members.map { "\($0.0)=\(text($0.1))" }.joined(separator: " ") } ?? text(row)
            }
            if rest.isEmpty { return ["\(name): none"] }
            return rest.count == 1
                ? ["\(name): \(rest[0])"] : ["\(name):"] + rest.map { indent + "  " + $0 }
        }
    }

    // MARK: Cells

    private static func line(_ bytes: some Collection<UInt8>) -> [UInt8] { Array(bytes) + [0x0A] }

    private static func heading(_ column: String) -> String {
        String(decoding: column.utf8.split(separator: UInt8(ascii: ".")).last ?? [], as: UTF8.self).uppercased()
    }

    private static func cell(_ row: JSONValue, _ column: String) -> String {
        let path = column.utf8.split(separator: UInt8(ascii: ".")).map { String(decoding: $0, as: UTF8.self) }
        let shown = find(path[...], in: row).map { text($0) } ?? ""
        let scalars = shown.unicodeScalars
        return scalars.count <= cellMax ? shown : String(String.UnicodeScalarView(scalars.prefix(cellMax - 1))) + "…"
    }

    /// A path goes on inside with each name; `*` stands for the first member in which the rest of it is found.
    private static func find(_ path: ArraySlice<String>, in value: JSONValue) -> JSONValue? {
        guard let name = path.first else { return value }
        guard let object = value.object else { return nil }
        let rest = path.dropFirst()
        if name != "*" { return object[name].flatMap { find(rest, in: $0) } }
        return object.members.lazy.compactMap { find(rest, in: $0.1) }.first
    }

    private static func padded(_ cells: [String], _ widths: [Int]) -> String {
        var line = ""
        for (index, cell) in cells.enumerated() {
            let isLast = index == cells.count - 1
            line += cell + (isLast ? "" : String(repeating: " ", count: widths[index] - cell.unicodeScalars.count + 2))
        }
        return line
    }

    private static func text(_ value: JSONValue) -> String {
        ReportText.printable(value.string ?? String(decoding: value.raw, as: UTF8.self))
    }
}
