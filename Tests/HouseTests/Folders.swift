/// Between two folders of a target, the one that holds the other counting too, names are used one way only.
enum Folders {
    /// What is wrong in `files`, which are all Swift files of one target.
    static func circles(in files: [(file: TextFile, code: SwiftCode)]) -> [Finding] {
        let rooms = Dictionary(grouping: files, by: \.file.folder).mapValues { $0.map { Names(of: $0) } }
        var uses: [String: [String: Use]] = [:]
        for (folder, names) in rooms {
            let own = names.reduce(into: Set<String>()) { $0.formUnion($1.declared) }
            for (other, theirs) in rooms where other != folder {
                let foreign = theirs.reduce(into: Set<String>()) { $0.formUnion($1.visible) }.subtracting(own)
                let hits = names.flatMap { name in name.uses(of: foreign) }
                uses[folder, default: [:]][other] = hits.min { ($0.path, $0.line) < ($1.path, $1.line) }
            }
        }
        return uses.keys.sorted().compactMap { circle(through: $0, uses) }
    }

    private struct Use {
        let name: String
        let path: String
        let line: Int
    }

    /// The shortest circle that begins at `start`; told once, at its first folder in the alphabet.
    private static func circle(through start: String, _ uses: [String: [String: Use]]) -> Finding? {
        var paths = [[start]]
        var seen: Set = [start]
        while !paths.isEmpty {
            let path = paths.removeFirst()
            for next in (uses[path.last ?? ""] ?? [:]).keys.sorted() {
                if next == start { return path.min() == start ? finding(path + [start], uses) : nil }
                if seen.insert(next).inserted { paths.append(path + [next]) }
            }
        }
        return nil
    }

    private static func finding(_ path: [String], _ uses: [String: [String: Use]]) -> Finding? {
        let steps = zip(path, path.dropFirst()).compactMap { from, to in uses[from]?[to].map { (from, to, $0) } }
        guard let first = steps.first?.2 else { return nil }
        let told = steps.map { "\($0.0) uses \($0.2.name) of \($0.1) (\($0.2.path):\($0.2.line))" }
        let instead = "Move what both need to the lower folder, or give the lower one a type of its own."
        return Finding(first.path, line: first.line, told.joined(separator: ", "), instead: instead)
    }

    /// What one file declares and what it says.
    private struct Names {
        let path: String
        /// Every type it declares, at any depth, and its free functions.
        private(set) var declared: Set<String> = []
        /// Those of them that other files can name by themselves.
        private(set) var visible: Set<String> = []
        /// The first line where each name is said, not counting members (`.name`).
        private var said: [String: Int] = [:]

        init(of source: (file: TextFile, code: SwiftCode)) {
            path = source.file.path
            let kinds: Set = ["struct", "class", "enum", "actor", "protocol", "typealias", "associatedtype"]
            let tokens = source.code.tokens
            var lineStart = 0
            for (index, token) in tokens.enumerated() {
                if token.text == "\n" { lineStart = index + 1 }
                guard index > 0, let first = token.text.utf8.first, first.isOfName else { continue }
                let before = tokens[index - 1].text
                let isFree = before == "func" && token.depth == 0
                if kinds.contains(before) || before == "func" { declared.insert(token.text) }
                if kinds.contains(before) && token.depth == 0 || isFree {
                    let isPrivate = tokens[lineStart..<index].contains { ["private", "fileprivate"].contains($0.text) }
                    if !isPrivate { visible.insert(token.text) }
                }
                if before != "." { said[token.text] = said[token.text] ?? token.line }
            }
        }

        func uses(of foreign: Set<String>) -> [Use] {
            said.filter { foreign.contains($0.key) }.map { Use(name: $0.key, path: path, line: $0.value) }
        }
    }
}
