/// A Swift file's code alone: comments and the inside of strings are blanked, lines stay where they were.
///
/// It knows as much of the language as the rules need: nested comments, raw and multi-line strings, strings inside an
/// interpolation. The inside of an interpolation counts as text.
struct SwiftCode {
    let bytes: [UInt8]
    let tokens: [Token]

    /// A name, number or sign, where it stands, and how many braces are open around it.
    struct Token: Hashable {
        let text: String
        let line: Int
        let depth: Int
    }

    init(_ text: String) {
        var scanner = Blanker(bytes: Array(text.utf8))
        scanner.run()
        bytes = scanner.bytes
        tokens = SwiftCode.tokens(of: bytes)
    }

    /// The 1-based lines where `word` stands. Where it begins or ends in a letter, it must begin or end a name there; a
    /// word that ends in `*` is the beginning of a name.
    func lines(with word: String) -> [Int] {
        var needle = Array(word.utf8)
        let isPrefix = needle.last == UInt8(ascii: "*")
        if isPrefix { needle.removeLast() }
        guard let first = needle.first, let last = needle.last else { return [] }
        var found: [Int] = []
        var line = 1
        for index in bytes.indices {
            if bytes[index] == UInt8(ascii: "\n") { line += 1 }
            guard bytes[index] == first, bytes[index...].starts(with: needle) else { continue }
            let end = index + needle.count
            if first.isOfName, index > 0, bytes[index - 1].isOfName { continue }
            if !isPrefix, last.isOfName, end < bytes.count, bytes[end].isOfName { continue }
            found.append(line)
        }
        return found
    }

    private static func tokens(of bytes: [UInt8]) -> [Token] {
        var tokens: [Token] = []
        var (line, depth, index) = (1, 0, 0)
        while index < bytes.count {
            let start = index
            while index < bytes.count, bytes[index].isOfName { index += 1 }
            if index == start { index += 1 }
            let text = String(decoding: bytes[start..<index], as: UTF8.self)
            if text == "}" { depth -= 1 }
            if text != " " { tokens.append(Token(text: text, line: line, depth: depth)) }
            if text == "{" { depth += 1 }
            if text == "\n" { line += 1 }
        }
        return tokens
    }

    /// The modules that the file imports, each with its line.
    func imports() -> [(module: String, line: Int)] {
        let kinds: Set = ["struct", "class", "enum", "protocol", "func", "typealias", "let", "var"]
        let code = tokens
        return code.indices.compactMap { index in
            guard code[index].text == "import", index + 1 < code.count else { return nil }
            let skips = kinds.contains(code[index + 1].text) && index + 2 < code.count
            return (code[index + (skips ? 2 : 1)].text, code[index].line)
        }
    }
}

extension UInt8 {
    /// Whether a byte can stand in a name. Every byte beyond ASCII counts as one.
    var isOfName: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }
}

private struct Blanker {
    var bytes: [UInt8]
    var index = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func run() {
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "/") where stands("//"): blankLine()
            case UInt8(ascii: "/") where stands("/*"): blankComment()
            case UInt8(ascii: "\""), UInt8(ascii: "#"): blankString()
            default: index += 1
            }
        }
    }

    private func stands(_ text: String) -> Bool { bytes[index...].starts(with: text.utf8) }

    private mutating func blank(_ count: Int) {
        for _ in 0..<count where index < bytes.count {
            if bytes[index] != UInt8(ascii: "\n") { bytes[index] = UInt8(ascii: " ") }
            index += 1
        }
    }

    private mutating func blankLine() {
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { blank(1) }
    }

    private mutating func blankComment() {
        var depth = 0
        repeat {
            let (opens, closes) = (stands("/*"), stands("*/"))
            depth += opens ? 1 : closes ? -1 : 0
            blank(opens || closes ? 2 : 1)
        } while depth > 0 && index < bytes.count
    }

    /// Leaves the quotation marks, so that the code still shows that a string stood there.
    private mutating func blankString() {
        let pounds = bytes[index...].prefix { $0 == UInt8(ascii: "#") }.count
        index += pounds
        guard index < bytes.count, stands("\"") else { return }
        let marks = stands("\"\"\"") ? 3 : 1
        let raw = String(repeating: "#", count: pounds)
        let (end, escape) = (String(repeating: "\"", count: marks) + raw, "\\" + raw)
        index += marks
        while index < bytes.count, !stands(end), marks == 3 || bytes[index] != UInt8(ascii: "\n") {
            if stands(escape + "(") {
                blankInterpolation(after: escape)
            } else {
                blank(stands(escape) ? escape.utf8.count + 1 : 1)
            }
        }
        index += end.utf8.count
    }

    private mutating func blankInterpolation(after escape: String) {
        let start = index
        blank(escape.utf8.count)
        var depth = 0
        repeat {
            if bytes[index] == UInt8(ascii: "\"") || bytes[index] == UInt8(ascii: "#") {
                blankString()
            } else {
                depth += stands("(") ? 1 : stands(")") ? -1 : 0
                blank(1)
            }
        } while depth > 0 && index < bytes.count
        // Once more, for the quotation marks of the strings inside.
        let end = index
        index = start
        blank(end - start)
    }
}
