import Simulator
import TestSupport
import Testing
import Verification

/// What a verifier remembers of one chain is never believed of another.
@Suite struct ChainMemoryTests {
    /// The proofs that carry their chain.
    @Test(arguments: [Family.jws, .receiptSHA1, .receiptSHA256])
    func oneChainsAnswerIsNoOthers(family: Family) throws {
        let right = try TestAuthority.shared.chain(family.signing)
        let verifier = try family.verifier(of: right)
        var proofs: [(proof: [UInt8], reason: Reason)] = [(try family.proof(by: right), .addedRoot)]
        for (flaw, reason) in family.table {
            proofs.append((try family.proof(by: TestAuthority.shared.chain(family.signing, flaw: flaw)), reason))
        }
        // First the right one is remembered, then the flawed ones are; each is asked for again, in the other order.
        for (proof, reason) in proofs + proofs.reversed() {
            #expect(verifier.reason(proof) == reason)
        }
    }
}
