/// What Package.swift says of its targets, read from its text: asking SwiftPM would wait for the build that runs us.
struct Manifest {
    struct Target: Hashable {
        let name: String
        /// In the manifest's order.
        let dependencies: [String]
        let folder: String
        let isTest: Bool
        /// Tests that depend on one start it, and do not import it.
        let isExecutable: Bool
        /// A system library, C or C++: not a room of ours, only what one stands on.
        let isForeign: Bool
    }

    let targets: [Target]

    init(_ text: String) {
        let calls = ["room", "tests", ".systemLibrary", ".target", ".executableTarget"]
        // Comments go, strings stay: a line that is a comment alone is the only kind the manifest has.
        let lines = text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }
        let code = lines.joined(separator: "\n")
        var found: [(offset: String.Index, target: Target)] = []
        for call in calls {
            for range in code.ranges(of: call + "(") {
                let before = range.lowerBound == code.startIndex ? " " : code[code.index(before: range.lowerBound)]
                guard !before.isLetter, before == " " else { continue }
                let arguments = Manifest.balanced(code[range.upperBound...])
                if let target = Manifest.target(call, arguments) { found.append((range.lowerBound, target)) }
            }
        }
        targets = found.sorted { $0.offset < $1.offset }.map(\.target)
    }

    private static func balanced(_ text: Substring) -> Substring {
        var depth = 1
        for index in text.indices {
            depth += "([".contains(text[index]) ? 1 : ")]".contains(text[index]) ? -1 : 0
            if depth == 0 { return text[..<index] }
        }
        return text
    }

    private static func target(_ call: String, _ arguments: Substring) -> Target? {
        // `func room(_ name: …)` declares; only a call begins with a name in quotes.
        let bare = arguments.drop { " \n".contains($0) }
        guard bare.hasPrefix("\"") || bare.hasPrefix("name: \""), let name = quoted(bare).first else { return nil }
        var rest = arguments
        var (foreign, folder) = (call == ".systemLibrary", "")
        if let path = arguments.firstRange(of: "path:") {
            folder = quoted(arguments[path.upperBound...]).first ?? ""
            foreign = foreign || folder.hasPrefix("Sources/System/") || folder.hasPrefix("Tests/System/")
        }
        for other in ["resources:", "providers:"] {
            if let range = rest.firstRange(of: other) { rest = rest[..<range.lowerBound] }
        }
        let list = foreign ? "" : rest.firstIndex(of: "[").map { balanced(rest[rest.index(after: $0)...]) } ?? ""
        let isTest = call == "tests"
        if folder.isEmpty { folder = (isTest ? "Tests/" : "Sources/") + name }
        return Target(
            name: name,
            dependencies: quoted(list),
            folder: folder + "/",
            isTest: isTest || folder.hasPrefix("Tests/"),
            isExecutable: call == ".executableTarget",
            isForeign: foreign
        )
    }

    private static func quoted(_ text: some StringProtocol) -> [String] {
        text.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
            .compactMap { $0.offset % 2 == 1 ? String($0.element) : nil }
    }
}
