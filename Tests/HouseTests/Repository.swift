import Foundation

/// One text file of this repository, as the rules see it.
struct TextFile: Sendable {
    /// Relative to the repository, such as `Sources/Crypto/Digest.swift`.
    let path: String
    let text: String

    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
    var folder: String { String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex)) }
    var name: String { String(path.split(separator: "/").last ?? "") }
    var isSwift: Bool { name.hasSuffix(".swift") }
    var isMarkdown: Bool { name.hasSuffix(".md") }

    /// Whether the file is one of `places`, or lies in one that ends in a slash.
    func lies(in places: [String]) -> Bool {
        places.contains { $0.hasSuffix("/") ? path.hasPrefix($0) : path == $0 }
    }
}

/// Where a rule is broken, and what to do instead.
struct Finding: Hashable, CustomStringConvertible, Sendable {
    let path: String
    let line: Int
    let what: String
    let instead: String

    init(_ path: String, line: Int = 1, _ what: String, instead: String) {
        self.path = path
        self.line = line
        self.what = what
        self.instead = instead
    }

    var description: String { "\(path):\(line): \(what). \(instead)" }
}

/// The repository that these tests are part of, read once.
enum Repository {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    /// Every path that is ours to keep in order; what tools make is left out.
    static let paths = list("")
    static let files = paths.compactMap(read)
    static let swift = files.filter(\.isSwift)
    static let markdown = files.filter(\.isMarkdown)

    /// Each Swift file with its code alone, in the order of the paths.
    static let sources = swift.map { (file: $0, code: SwiftCode($0.text)) }
    static let manifest = Manifest(file("Package.swift").text)

    static func sources(of target: Manifest.Target) -> [(file: TextFile, code: SwiftCode)] {
        sources.filter { $0.file.path.hasPrefix(target.folder) }
    }

    static func file(_ path: String) -> TextFile {
        files.first { $0.path == path } ?? TextFile(path: path, text: "")
    }

    private static let leftOut: Set = [".git", ".build", "data", "__pycache__", ".venv", ".DS_Store"]

    private static func list(_ folder: String) -> [String] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path())
        // What has no names in it is a file.
        guard let names else { return [folder] }
        return names.sorted().filter { !leftOut.contains($0) }.flatMap { list(folder.isEmpty ? $0 : folder + "/" + $0) }
    }

    /// `nil` for what is not text of ours: certificates, recorded bytes, what fuzzers begin with.
    private static func read(_ path: String) -> TextFile? {
        let isRecorded = path.contains("/Samples/") || path.hasPrefix("Fuzz/") && path.contains("/seeds/")
        guard !isRecorded || path.hasSuffix(".md"),
            let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8)
        else { return nil }
        return TextFile(path: path, text: text)
    }
}
