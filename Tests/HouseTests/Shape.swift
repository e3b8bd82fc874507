/// How long a file or a function may be, and how its lines look.
enum Shape {
    static let fileLinesMax = 400
    static let functionLinesMax = 60

    static func findings(in file: TextFile) -> [Finding] {
        var findings: [Finding] = []
        var lines = file.lines
        if lines.last == "" { lines.removeLast() }
        let isCode = [".swift", ".h", ".cpp", ".c", ".sql", ".sh", ".py"].contains { file.name.hasSuffix($0) }
        if isCode, lines.count > fileLinesMax {
            let instead = "\(fileLinesMax) is the wall: give the second idea in it a file of its own."
            findings.append(Finding(file.path, "the file has \(lines.count) lines", instead: instead))
        }
        if !file.text.isEmpty, !file.text.hasSuffix("\n") {
            findings.append(Finding(file.path, line: lines.count, "no newline at the end", instead: "Add one."))
        }
        for (index, line) in lines.enumerated() {
            if line.last == " " || line.last == "\t" || line.last == "\r" {
                findings.append(Finding(file.path, line: index + 1, "white space at the end", instead: "Delete it."))
            }
            if line.contains("\t"), file.name != "Makefile" {
                findings.append(Finding(file.path, line: index + 1, "a tab", instead: "Indent with spaces."))
            }
        }
        return findings
    }

    /// The functions whose text, from `func` to the closing brace, is longer than ``functionLinesMax``.
    static func longFunctions(in file: TextFile, _ code: SwiftCode) -> [Finding] {
        let tokens = code.tokens
        return tokens.indices.compactMap { index in
            guard let end = endOfBody(of: index, tokens) else { return nil }
            let (first, count) = (tokens[index].line, tokens[end].line - tokens[index].line + 1)
            guard count > functionLinesMax else { return nil }
            let instead = "\(functionLinesMax) is the wall: give a step of it a name and a function of its own."
            return Finding(file.path, line: first, "a function of \(count) lines", instead: instead)
        }
    }

    private static let functions: Set = ["func", "init", "deinit", "subscript", "var"]
    private static let declarations: Set = [
        "func", "init", "deinit", "subscript", "var", "let", "case", "struct", "enum", "class", "actor", "extension",
        "protocol", "typealias", "static", "package", "private", "public", "internal", "mutating", "associatedtype",
        "}",
    ]

    /// Where the body ends of the function that begins at `start`; `nil` when none begins there, or it has no body.
    private static func endOfBody(of start: Int, _ tokens: [SwiftCode.Token]) -> Int? {
        let word = tokens[start].text
        guard functions.contains(word), start == 0 || tokens[start - 1].text != "." else { return nil }
        var brackets = 0
        for index in tokens.indices.dropFirst(start + 1) {
            let token = tokens[index]
            switch token.text {
            case "(", "[": brackets += 1
            case ")", "]": brackets -= 1
            case "{" where brackets == 0:
                return tokens[index...].firstIndex { $0.text == "}" && $0.depth == token.depth }
            case "\n" where brackets == 0 && word == "var": return nil
            default:
                if brackets == 0, declarations.contains(token.text) { return nil }
            }
        }
        return nil
    }
}
