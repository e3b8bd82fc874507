import AppleFormats
import Foundation
import PurchaseModel
import Simulator
import TestSupport
import Testing
import Verification

/// One bit turned over: in what is signed it leaves nothing proved; elsewhere it may not change what is proved.
///
/// By default a hundred bits of each part; with `ASSAY_SWEEP=long` in the environment also every bit of what is signed.
@Suite struct AlteredProofTests {
    private static let isLong = ProcessInfo.processInfo.environment["ASSAY_SWEEP"] == "long"

    @Test(arguments: ProofKind.allCases)
    func aTurnedBitProvesNothingElse(kind: ProofKind) throws {
        let proof = try kind.sharedProof()
        try Altered.check(proof, by: TestVerifier.simulated(), signedMax: 100, signaturesMax: 256, unsignedMax: 80)
    }

    /// Of one proof of each form every bit of what is signed, of the signature and of the signer's certificate: minutes.
    @Test(.enabled(if: isLong), arguments: [ProofKind.transaction, .receiptSHA256, .oldReceiptThree])
    func noBitOfWhatIsSignedMayTurn(kind: ProofKind) throws {
        let purchases = (0..<3).map { Sample.transaction(Sample.sandboxID + $0) }
        let signer = TestAuthority.signer(.sandbox)
        let proof = kind.isReceipt ? try signer.receipt(purchases, createdAt: Sample.moment) : try kind.sharedProof()
        let verifier = try TestVerifier.simulated()
        try #require(verifier.examine(proof).isProved)
        for part in try Altered.signedParts(of: proof) {
            for alteration in Alteration.all(in: part) {
                let altered = verifier.examine(alteration.applied(to: proof))
                if altered.isProved || !altered.isConsistent { Issue.record("\(alteration): \(altered.reason)") }
            }
        }
    }

    /// What stands beside the signature of an iOS 6 receipt is read by nobody.
    @Test(arguments: [ProofKind.oldReceiptTwo, .oldReceiptThree, .oldReceiptFour])
    func whatStandsBesideTheSignatureChangesNothing(kind: ProofKind) throws {
        let proof = try kind.sharedProof()
        let verifier = try TestVerifier.simulated()
        let right = verifier.examine(proof)
        let pairs = try OldPlist(proof.span).pairs
        let signed = pairs.filter { $0.key == "signature" || $0.key == "purchase-info" }
        let environments: [String?] = [nil, "Production", "Sandbox", "Xcode", "LocalTesting", "", "\u{301}\""]
        for environment in environments {
            var changed = signed
            if let environment { changed.append(OldPlist.Pair(key: "environment", value: environment)) }
            changed.append(OldPlist.Pair(key: "pod", value: "7"))
            changed.append(OldPlist.Pair(key: "signing-status", value: "1"))
            changed.append(OldPlist.Pair(key: "product-id", value: "com.example.other"))
            let examination = verifier.examine(OldPlist.encode(changed.reversed()))
            #expect(examination.reason == right.reason)
            #expect(examination.report.claims == right.report.claims)
        }
    }

    /// The other root of the same signature is as good to ECDSA: no fact may hang on a signature's bytes.
    @Test func theTwinOfASignatureProvesTheSame() throws {
        let token = try CompactJWS(ProofKind.transaction.sharedProof())
        let twin = try ECDSATwin.of(token)
        let verifier = try TestVerifier.simulated()
        #expect(verifier.examine(twin).proof?.fact.claims == verifier.examine(token.bytes).proof?.fact.claims)
        #expect(twin != token.bytes)
    }
}

/// Checks altered proofs against the right one.
enum Altered {
    /// - Parameters:
    ///   - proof: unwrapped, and good for the verifier.
    ///   - verifier: what must refuse each alteration.
    ///   - signedMax: alterations in each signed part.
    ///   - signaturesMax: the same for parts that are as short as a signature.
    ///   - unsignedMax: alterations of everything.
    /// - Throws: when the proof cannot be taken apart.
    static func check(
        _ proof: [UInt8],
        by verifier: Verifier,
        signedMax: Int,
        signaturesMax: Int,
        unsignedMax: Int
    ) throws {
        let right = verifier.examine(proof)
        #expect(right.isProved)
        for (index, part) in try signedParts(of: proof).enumerated() {
            let countMax = part.count <= 256 ? signaturesMax : signedMax
            for alteration in Alteration.all(in: part, seed: UInt64(index), countMax: countMax) {
                let altered = verifier.examine(alteration.applied(to: proof))
                if altered.isProved || !altered.isConsistent { Issue.record("\(alteration): \(altered.reason)") }
            }
        }
        for alteration in Alteration.all(in: 0..<proof.count, seed: 77, countMax: unsignedMax) {
            let altered = verifier.examine(alteration.applied(to: proof))
            guard altered.isProved || !altered.isConsistent else { continue }
            let isSame = altered.proof?.fact.claims == right.proof?.fact.claims && altered.verdict == right.verdict
            if !isSame { Issue.record("\(alteration): another fact") }
        }
    }

    /// What no bit may change in: content, signature and the signer's certificate.
    static func signedParts(of proof: [UInt8]) throws -> [Range<Int>] {
        if proof.first == 0x30 {
            let envelope = try SignedData(proof)
            let signer = try #require(envelope.signers.first)
            let leaf = try #require(envelope.certificates.first)
            return [envelope.content.indices, signer.signature.indices, leaf.indices]
        }
        if proof.first == UInt8(ascii: "e") {
            let token = try CompactJWS(proof)
            return [token.headerSegment.indices, token.payloadSegment.indices, token.signatureSegment.indices]
        }
        let pairs = try OldPlist(proof.span).pairs
        return try ["signature", "purchase-info"].map { key in
            let value = try #require(pairs.first { $0.key == key }?.value)
            let start = try #require(Altered.position(of: Array(value.utf8), in: proof))
            return start..<start + value.utf8.count
        }
    }

    private static func position(of part: [UInt8], in whole: [UInt8]) -> Int? {
        whole.indices.first { whole[$0] == part.first && whole[$0...].starts(with: part) }
    }
}
