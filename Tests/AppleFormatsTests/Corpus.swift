import Foundation
import Testing

/// Real receipts and answers that stand beside the project, not in it; tests over them pass quietly when they are away.
enum Corpus {
    /// `ASSAY_CORPUS`, or `../shared/corpus` beside the package.
    static let folder: URL? = {
        let named = ProcessInfo.processInfo.environment["ASSAY_CORPUS"]
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let folder = named.map { URL(filePath: $0) } ?? package.appending(path: "../shared/corpus")
        return FileManager.default.fileExists(atPath: folder.appending(path: "manifest.json").path) ? folder : nil
    }()

    static let isPresent: Bool = folder != nil
    static let absence: Comment = "The corpus of real receipts is absent; name its folder in ASSAY_CORPUS."

    static let cases: [CorpusCase] = {
        guard let folder, let data = try? Data(contentsOf: folder.appending(path: "manifest.json")) else { return [] }
        let rows = (try? JSONSerialization.jsonObject(with: data)) as? [[String: Any]] ?? []
        return rows.compactMap { row in
            guard let id = row["id"] as? String, let kind = row["kind"] as? String, let path = row["path"] as? String
            else { return nil }
            return CorpusCase(id: id, kind: kind, path: path)
        }
    }()

    static func cases(in directory: String) -> [CorpusCase] {
        cases.filter { $0.path.hasPrefix(directory + "/") }
    }
}

/// One row of the corpus's manifest.
struct CorpusCase: Sendable, CustomTestStringConvertible {
    let id: String
    let kind: String
    let path: String

    var testDescription: String { id }

    /// The file's bytes, out of base64 where its name says so.
    func bytes() throws -> [UInt8] {
        let data = try Data(contentsOf: #require(Corpus.folder).appending(path: path))
        guard path.hasSuffix(".b64") else { return Array(data) }
        return Array(try #require(Data(base64Encoded: data, options: .ignoreUnknownCharacters)))
    }

    /// The file's text without blanks at its ends.
    func text() throws -> [UInt8] {
        var bytes = try bytes()
        while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
        return bytes
    }

    func row() throws -> [String: Any] {
        let data = try Data(contentsOf: #require(Corpus.folder).appending(path: "manifest.json"))
        let rows = try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
        return try #require(rows.first { $0["id"] as? String == id })
    }

    /// What another program found in the file; nil where nothing is recorded.
    func facts() throws -> [String: Any]? {
        let file = try #require(Corpus.folder).appending(path: "facts/\(id).json")
        guard let data = try? Data(contentsOf: file) else { return nil }
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }
}

/// Reads a receipt's date by other means than the code under test; nil for an empty text.
func milliseconds(ofFact fact: Any?) throws -> Int64? {
    guard let text = fact as? String, !text.isEmpty else { return nil }
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.calendar = Calendar(identifier: .gregorian)
    formatter.timeZone = TimeZone(identifier: "GMT")
    formatter.dateFormat = text.contains("T") ? "yyyy-MM-dd'T'HH:mm:ssZ" : "yyyy-MM-dd HH:mm:ss"
    let plain = text.replacingOccurrences(of: " Etc/GMT", with: "").replacingOccurrences(of: "Z", with: "+0000")
    return Int64((try #require(formatter.date(from: plain), "\(text)").timeIntervalSince1970 * 1_000).rounded())
}

func number(ofFact fact: Any?) -> Int64? {
    (fact as? NSNumber)?.int64Value
}

/// An empty text stands for none in receipts.
func text(ofFact fact: Any?) -> String? {
    (fact as? String).flatMap { $0.isEmpty ? nil : $0 }
}

func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
