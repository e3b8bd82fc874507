import Foundation
import PurchaseModel
import TestSupport
import Testing
import Verification

/// Recorded files that prove no purchase: each is refused for what is wrong with it.
@Suite(.enabled(if: Corpus.isPresent, Comment(rawValue: Corpus.absenceNote)))
struct ForgedCorpusTests {
    @Test func everyRowOfTheManifestIsExaminedSomewhere() {
        let folders: Set = [
            "receipts", "ios6", "jws", "forged", "cms_not_receipts", "malformed", "verify_receipt_responses",
            "notifications_v1", "server_api_responses",
        ]
        let others = Corpus.cases.filter { row in !folders.contains { row.path.hasPrefix($0 + "/") } }
        #expect(others.map(\.id) == [])
    }

    /// The cut with the genuine root is told by its signature; the others by their root.
    @Test(arguments: CorpusCase.all(in: "forged").filter { $0.kind == "jws_forged" })
    func aForgedTokenIsRefused(_ sample: CorpusCase) throws {
        let examination = try TestVerifier.apple().examine(sample.bytes())
        let isUnderAppleRoot = try Corpus.manifestValue(sample.id, "root_sha256_prefix") == "63343abf"
        #expect(examination.reason == (isUnderAppleRoot ? .signature : .untrustedRoot))
        #expect(examination.verdict == .forged)
        #expect(!examination.isProved && examination.isConsistent)
        #expect(examination.report.format.rawValue.hasPrefix("jws_"))
    }

    @Test(arguments: CorpusCase.all(in: "forged").filter { $0.kind.hasPrefix("pkcs7") })
    func aForgedReceiptIsRefused(_ sample: CorpusCase) throws {
        let examination = try TestVerifier.apple().examine(sample.bytes())
        #expect(examination.report.format == .appReceipt)
        #expect(examination.reason == .untrustedRoot)
        #expect(!examination.isProved && examination.isConsistent)
    }

    @Test func aCrackersTokenIsKnown() throws {
        let sample = try #require(Corpus.cases.first { $0.id == "forged-token-001" })
        let examination = try TestVerifier.apple().examine(sample.bytes())
        #expect(examination.reason == .knownCracker)
        #expect(examination.verdict == .forged)
    }

    @Test func anAnswerToACrackersTokenHoldsNoPurchase() throws {
        let sample = try #require(Corpus.cases.first { $0.id == "forged-token-003" })
        let examination = try TestVerifier.apple().examine(sample.bytes())
        #expect(examination.reason == .answerWithoutPurchase)
        #expect(examination.report.format == .verifyReceiptResponse)
    }

    /// Apple signs other things than receipts, some of them under the same root: profiles by an elliptic key, others by
    /// a signer of another purpose.
    @Test(arguments: CorpusCase.all(in: "cms_not_receipts"))
    func whatAppleSignedElsewhereIsNoReceipt(_ sample: CorpusCase) throws {
        let examination = try TestVerifier.apple().examine(sample.bytes())
        #expect(examination.report.format == .appReceipt)
        #expect(examination.verdict == .forged)
        #expect(examination.reason == (["cms-001", "cms-005"].contains(sample.id) ? .keyType : .leafMarkerMissing))
        #expect(!examination.isProved)
    }

    @Test(arguments: CorpusCase.all(in: "malformed"))
    func aReceiptThatWasCutShortIsSaidToBe(_ sample: CorpusCase) throws {
        let examination = try TestVerifier.apple().examine(sample.bytes())
        #expect(examination.reason == .truncated)
        #expect(examination.verdict == .malformed)
    }

    @Test(arguments: CorpusCase.all(in: "verify_receipt_responses") + CorpusCase.all(in: "notifications_v1"))
    func anUnsignedAnswerDecidesNothing(_ sample: CorpusCase) throws {
        let examination = try TestVerifier.apple().examine(sample.bytes())
        let isAnswer = sample.kind == "verify_receipt_response"
        #expect(examination.report.format == (isAnswer ? .verifyReceiptResponse : .notificationV1))
        #expect(examination.reason == (isAnswer ? .unsignedAnswer : .unsignedNotification))
        #expect(examination.verdict == .undecidable)
        #expect(!examination.isProved)
        let claims = examination.report.claims
        #expect(claims.bundleID == sample.bundleID)
        let ids = Set(claims.transactions.map(\.id.description))
        #expect(ids.isSuperset(of: sample.expect.transactionIDs ?? []))
        #expect(!ids.isEmpty)
    }

    /// A list of subscriptions is an answer to a server's question. The facts in it are signed: they are to be sent.
    @Test func aListOfSubscriptionsIsNoProof() throws {
        let sample = try #require(CorpusCase.all(in: "server_api_responses").first)
        #expect(try TestVerifier.apple().examine(sample.bytes()).verdict == .malformed)
    }
}

extension Corpus {
    /// A value of the manifest that only these tests want.
    static func manifestValue(_ id: String, _ key: String) throws -> String? {
        let object = try JSONSerialization.jsonObject(with: Data(bytes("manifest.json")))
        let rows = try #require(object as? [[String: Any]])
        let row = try #require(rows.first { $0["id"] as? String == id })
        return (row["expect"] as? [String: Any])?[key] as? String
    }

    /// The proof itself, out of base64 and white space.
    static func unwrapped(_ sample: CorpusCase) throws -> [UInt8] {
        var bytes = try sample.bytes()
        while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
        guard sample.path.hasSuffix(".b64") else { return bytes }
        return Array(try #require(Data(base64Encoded: Data(bytes), options: .ignoreUnknownCharacters)))
    }
}
