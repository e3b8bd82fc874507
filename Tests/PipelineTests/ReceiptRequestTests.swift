import Encoding
import Pipeline
import PurchaseModel
import Storage
import Testing

/// Whole bodies of requests to verifyReceipt are sent as proofs. The app's shared secret stands in them, and is kept nowhere.
@Suite struct ReceiptRequestTests {
    private static func body(_ receipt: [UInt8]) -> [UInt8] {
        Array(#"{"receipt-data":""#.utf8) + receipt + Array(#"","password":"hush"}"#.utf8)
    }

    private static func oldReceipt() throws -> [UInt8] {
        Base64.encode(try StoreAuthority.one.get().receipt(Proofs.transaction(2)), .standard, isPadded: true)
    }

    @Test func theReceiptAloneIsKeptAndIsTheSameProof() async throws {
        try await PipelineHouse().open { (house) async throws in
            let proof = try Proofs.jws(1)
            #expect(try await house.submit(Self.body(proof)).word == "recorded")
            #expect(try await house.submit(proof).word == "known")
            #expect(try await house.submit(Self.body(proof)).word == "known")
            let realm = Realm(environment: .sandbox, isTestSigned: true)
            let key = TransactionKey(app: house.app.id, realm: realm, id: try Proofs.transaction(1).id)
            let kept = try await house.store.read { reader throws(StoreFailure) in
                [try reader.evidence(of: key), try reader.latestEvidence(of: key)]
            }
            #expect(kept.map { $0?.proof } == [proof, proof])
        }
    }

    @Test func whatWaitsIsTheReceiptAlone() async throws {
        try await PipelineHouse().open { (house) async throws in
            let receipt = try Self.oldReceipt()
            let first = try await house.submit(Self.body(receipt))
            let id = try #require(first.pendingID)
            #expect(try await house.submit(receipt).pendingID == id)
            #expect(try await house.figures().pendingSubmissions == 1)
            let kept = try await house.store.read { reader throws(StoreFailure) in try reader.submission(id) }
            #expect(kept?.submission.proof == receipt)
        }
    }

    @Test func ofWhatIsRefusedTheSampleIsWhatStoodForTheReceipt() async throws {
        try await PipelineHouse().open { (house) async throws in
            #expect(try await house.submit(Self.body(Proofs.garbage(1))).word == "refused unreadable")
            #expect(try await house.submit(Proofs.jws(1)).word == "recorded")
            #expect(try await house.refusals().samples.map(\.proof) == [Proofs.garbage(1)])
        }
    }

    @Test func aRowOfAnImportIsTheReceiptAlone() throws {
        let receipt = try Self.oldReceipt()
        #expect(ImportRow.Claim(proof: Self.body(receipt)).proof == receipt)
    }

    /// A sample that was cut off, or that no door lets in, is not shown with it either.
    @Test func aSampleThatCannotBeReadIsShownWithoutTheSecret() throws {
        func shown(_ bytes: [UInt8]) throws -> [UInt8]? {
            let sample = RefusalSample(
                app: nil,
                reason: "untrusted",
                customer: nil,
                receivedAt: Timestamp(milliseconds: 0),
                digest: try #require(ProofDigest([UInt8](repeating: 1, count: 32))),
                bytesInAll: bytes.count,
                proof: bytes
            )
            return ShownBytes.of(sample)
        }
        let long = Array(#"{"password":"hush","receipt-data":""#.utf8) + [UInt8](repeating: 65, count: 20_000)
        let encoded = Base64.encode(long, .standard, isPadded: true)
        let inString = String(decoding: long, as: UTF8.self).replacing("\"", with: "\\\"")
        var hidden: [[UInt8]] = [
            long, encoded, Base64.encode(encoded, .standard, isPadded: true),
            Array("\"".utf8) + encoded, Array(" \"\(inString)".utf8), Array("%7B%22password%22%3A%22hush%22%2".utf8),
            Array("\(String(decoding: encoded.prefix(400), as: UTF8.self))\\u00".utf8),
            Array(#"{"password":"hush","password":"hush"}"#.utf8), Array(#"{"receipt-data":7,"password":"hush"}"#.utf8),
        ]
        let broken = Base64.encode(Array(#"{"receipt-data":"AAAA","password":"hush""#.utf8), .standard, isPadded: true)
        hidden.append(Self.body(broken))
        for bytes in hidden { #expect(try shown(bytes) == nil, "\(String(decoding: bytes.prefix(40), as: UTF8.self))") }
        let told = #"{"notification_type":"CANCEL","password":"hush"}"#
        #expect(try shown(Array(told.utf8)) == Array(told.replacing("hush", with: "").utf8))
        #expect(try shown(Self.body(try Self.oldReceipt())) == (try Self.oldReceipt()))
        for other in [Array(#"{ "signature" = "QUJD"; }"#.utf8), [UInt8](repeating: 65, count: 20_000), [0x30, 0x82]] {
            #expect(try shown(other) == Array(other.prefix(RefusalSample.bytesMax)))
        }
    }

    /// As earlier versions kept it.
    @Test func whatWasKeptWithTheSecretIsShownWithoutIt() throws {
        let receipt = try Self.oldReceipt()
        #expect(ShownBytes.proof(Self.body(receipt)) == receipt)
        #expect(ShownBytes.proof(receipt) == receipt)
    }
}
