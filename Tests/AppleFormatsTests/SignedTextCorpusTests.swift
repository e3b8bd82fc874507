import AppleFormats
import Encoding
import Foundation
import TestSupport
import Testing

@Suite("Real signed texts", .enabled(if: Corpus.isPresent, Comment(rawValue: Corpus.absenceNote)))
struct SignedTextCorpusTests {
    /// Looks that every member of the recorded payload is in our writing of it, and nothing else.
    private func compare(_ ours: [UInt8], _ theirs: Any?) throws {
        let written = try #require(try JSONSerialization.jsonObject(with: Data(ours)) as? NSDictionary)
        let recorded = try #require(theirs as? NSDictionary)
        #expect(written == recorded)
    }

    @Test("are decoded into what another program found in them", arguments: CorpusCase.all(in: "jws"))
    func payload(_ sample: CorpusCase) throws {
        let jws = try CompactJWS(sample.content())
        let facts = try #require(try sample.recordedFacts())
        let document = try JSONDocument.ofApple(jws.payloadBytes())
        let kind = PayloadKind(of: document)
        #expect("jws_" + kind.rawValue == sample.kind)
        switch kind {
        case .transaction:
            let payload = try TransactionPayload(document)
            try compare(payload.encode(), facts["payload"])
            #expect(payload.others.isEmpty)
            #expect(payload.signedDate == sample.creationMilliseconds.map { Int64($0) })
            #expect(payload.transactionID.map { [$0] } == sample.expect.transactionIDs)
            #expect(payload.productID.map { [$0] } == sample.expect.productIDs)
            #expect(payload.bundleID == sample.bundleID)
        case .renewalInfo:
            let payload = try RenewalInfoPayload(document)
            try compare(payload.encode(), facts["payload"])
            #expect(payload.others.isEmpty)
            #expect(payload.originalTransactionID.map { [$0] } == sample.expect.originalTransactionIDs)
        case .notification:
            let payload = try NotificationPayload(document)
            try compare(payload.encode(), facts["payload"])
            #expect(payload.notificationType == sample.notificationType)
            #expect(payload.data != nil)
            #expect(payload.others.isEmpty)
            #expect(payload.data?.others.isEmpty == true)
            for nested in [payload.data?.signedTransactionInfo, payload.data?.signedRenewalInfo].compactMap({ $0 }) {
                let inner = try JSONDocument.ofApple(CompactJWS(Array(nested.utf8)).payloadBytes())
                #expect([.transaction, .renewalInfo].contains(PayloadKind(of: inner)))
            }
        default: Issue.record("\(kind)")
        }
    }

    @Test("have a header of algorithm and three certificates", arguments: CorpusCase.all(in: "jws"))
    func header(_ sample: CorpusCase) throws {
        let jws = try CompactJWS(sample.content())
        let header = try JWSHeader(jws.headerBytes())
        #expect(header.algorithm == "ES256")
        #expect(header.certificates?.count == 3)
        #expect(header.otherParameters.isEmpty)
        #expect(header.keyID == nil)
        #expect(try jws.signature().count == 64)
    }

    @Test("when forged, fail or are decoded, without a trap", arguments: CorpusCase.all(in: "forged"))
    func forged(_ sample: CorpusCase) throws {
        if sample.kind == "jws_forged" {
            let jws = try CompactJWS(sample.content())
            _ = try JWSHeader(jws.headerBytes())
            #expect(try PayloadKind(of: .ofApple(jws.payloadBytes())) != .unknown)
        } else if sample.path.hasSuffix(".b64") {
            guard let envelope = try? SignedData(sample.content()) else { return }
            _ = try? AppReceipt(envelope.content)
            _ = try? PlistReceipt(sample.content())
        } else {
            #expect(throws: FormatFault.self) { try CompactJWS(sample.content()).headerBytes() }
            #expect(throws: FormatFault.self) { try SignedData(sample.content()) }
        }
    }

    @Test("of other trades open as envelopes and are no receipts", arguments: CorpusCase.all(in: "cms_not_receipts"))
    func otherTrades(_ sample: CorpusCase) throws {
        let envelope = try SignedData(sample.content())
        #expect(throws: FormatFault.self) { try AppReceipt(envelope.content) }
    }

    @Test("that are cut short are refused as such", arguments: CorpusCase.all(in: "malformed"))
    func malformed(_ sample: CorpusCase) throws {
        let bytes = try sample.content()
        #expect(throws: FormatFault.truncated(at: bytes.count)) { try SignedData(bytes) }
    }

    @Test("in the Server API's answers can be cut out", arguments: CorpusCase.all(in: "server_api_responses"))
    func answers(_ sample: CorpusCase) throws {
        let object = try #require(try JSONDocument.ofApple(sample.content()).root.object)
        var signed: [String] = []
        for group in try #require(object["data"]?.array) {
            for transaction in try #require(group.object?["lastTransactions"]?.array) {
                signed += ["signedTransactionInfo", "signedRenewalInfo"].compactMap {
                    transaction.object?[$0]?.string
                }
            }
        }
        #expect(!signed.isEmpty)
        for text in signed {
            #expect(try PayloadKind(of: .ofApple(CompactJWS(Array(text.utf8)).payloadBytes())) != .unknown)
        }
    }

    @Test("of iOS 6 hold what another program found in them", arguments: CorpusCase.all(in: "ios6"))
    func plist(_ sample: CorpusCase) throws {
        let receipt = try PlistReceipt(sample.content())
        let facts = try #require(try sample.recordedFacts())
        let info = try #require(facts["info"] as? [String: String])
        #expect(Dictionary(uniqueKeysWithValues: receipt.purchase.pairs.map { ($0.key, $0.value) }) == info)
        #expect(Int(receipt.version) == sample.expect.formatVersion)
        #expect(receipt.signature.count == number(ofFact: facts["sigbytes"]).map(Int.init))
        #expect(receipt.unsigned.environment == facts["env"] as? String)
        #expect(receipt.unsigned.pod == facts["pod"] as? String)
        #expect(receipt.unsigned.signingStatus == facts["signing_status"] as? String)
        #expect(receipt.purchase.transactionID.map { [$0] } == sample.expect.transactionIDs)
        #expect(receipt.purchase.originalTransactionID == info["original-transaction-id"])
        #expect(receipt.purchase.bundleID == sample.bundleID)
        #expect(receipt.purchase.purchaseDate == sample.expect.purchaseMilliseconds.flatMap { Int64($0) })
        #expect(receipt.purchase.expiresDate == info["expires-date"].flatMap { Int64($0) })
        #expect(receipt.signedBytes.first == receipt.version)
        #expect(receipt.certificate.starts(with: [0x30, 0x82]))
    }
}
