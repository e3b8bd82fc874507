import Foundation
import TestSupport
import Testing

extension CorpusCase {
    static func all(in folder: String) -> [CorpusCase] {
        Corpus.cases.filter { $0.path.hasPrefix(folder + "/") }
    }

    /// The file's bytes, out of base64 where its name says so, and without blanks at its ends.
    func content() throws -> [UInt8] {
        var bytes = try bytes()
        if path.hasSuffix(".b64") {
            return Array(try #require(Data(base64Encoded: Data(bytes), options: .ignoreUnknownCharacters)))
        }
        while let last = bytes.last, last <= 0x20, !path.hasSuffix(".der") { bytes.removeLast() }
        return bytes
    }

    /// What another program found in the file; nil where nothing is recorded.
    func recordedFacts() throws -> [String: Any]? {
        guard let facts else { return nil }
        let object = try JSONSerialization.jsonObject(with: Data(Corpus.bytes(facts)))
        return try #require(object as? [String: Any])
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
