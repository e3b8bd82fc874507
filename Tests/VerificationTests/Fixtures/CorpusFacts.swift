import Crypto
import Foundation
import PurchaseModel
import TestSupport
import Testing
import Verification

/// What another program found in recorded proofs, in our own words.
extension CorpusCase {
    static func all(in folder: String) -> [CorpusCase] {
        Corpus.cases.filter { $0.path.hasPrefix(folder + "/") }
    }

    var isGenuine: Bool {
        expect.isGenuineReceiptAtCreation ?? expect.isGenuineJWSAtSigning ?? expect.isGenuineOldReceiptAtPurchase
            ?? false
    }

    /// Some part of the independently decoded content.
    func facts(_ part: String) throws -> [String: Any] {
        try #require(try wholeFacts()[part] as? [String: Any])
    }

    func factsList(_ part: String) throws -> [[String: Any]] {
        try #require(try wholeFacts()[part] as? [[String: Any]])
    }

    private func wholeFacts() throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(Corpus.bytes(try #require(facts))))
        return try #require(object as? [String: Any])
    }

    /// Apple's word for the environment in ours; nil when the proof does not say.
    static func environment(_ word: Any?) -> StoreEnvironment? {
        switch word as? String {
        case "Production", "ProductionVPP": .production
        case "Sandbox", "ProductionSandbox", "ProductionVPPSandbox": .sandbox
        case "Xcode": .xcode
        default: nil
        }
    }

    /// A verifier to which the operator gave the certificates that iOS 6 receipts do not carry.
    static func verifierWithCertificates() throws -> Verifier {
        try TestVerifier.adding { anchors in
            for name in try Corpus.files(in: "certificates") where name.hasSuffix(".der") {
                anchors.addIntermediate(try Certificate(der: Corpus.bytes("certificates/" + name)))
            }
        }
    }
}

/// Values of decoded facts.
enum Fact {
    /// Reads dates by other means than the code under test; nil for an empty text.
    static func milliseconds(_ fact: Any?) throws -> Int64? {
        if let number = fact as? NSNumber { return number.int64Value }
        guard let text = fact as? String, !text.isEmpty else { return nil }
        if let number = Int64(text) { return number }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.calendar = Calendar(identifier: .gregorian)
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = text.contains("T") ? "yyyy-MM-dd'T'HH:mm:ssZ" : "yyyy-MM-dd HH:mm:ss"
        let plain = text.replacingOccurrences(of: " Etc/GMT", with: "").replacingOccurrences(of: "Z", with: "+0000")
        return Int64((try #require(formatter.date(from: plain), "\(text)").timeIntervalSince1970 * 1_000).rounded())
    }

    static func number(_ fact: Any?) -> Int64? {
        (fact as? NSNumber)?.int64Value ?? (fact as? String).flatMap { Int64($0) }
    }

    /// An empty text stands for none in receipts.
    static func text(_ fact: Any?) -> String? { (fact as? String).flatMap { $0.isEmpty ? nil : $0 } }
}
