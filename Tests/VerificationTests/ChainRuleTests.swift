import Crypto
import PurchaseModel
import Simulator
import TestSupport
import Testing
import Verification

/// What each flaw in a chain of certificates is refused for. `added_root` stands where it is none: a receipt's
/// certificates have no order, and its root is taken from the pinned ones.
@Suite struct ChainRuleTests {
    @Test func eachKindOfProofHasARowForEachFlaw() {
        for family in Family.allCases {
            let expected = ChainFlaw.allCases.filter { $0.applies(to: family.signing) && family.canSign($0) }
            #expect(Set(family.table.keys) == Set(expected), "\(family)")
        }
    }

    @Test(arguments: Family.allCases, ChainFlaw.allCases)
    func aFlawedChainIsRefusedForItsFlaw(family: Family, flaw: ChainFlaw) throws {
        guard let reason = family.table[flaw] else { return }
        let chain = try TestAuthority.shared.chain(family.signing, flaw: flaw)
        let examination = try family.verifier(of: chain).examine(family.proof(by: chain))
        #expect(examination.reason == reason)
        #expect(examination.isConsistent)
        #expect(examination.verdict != .genuine)
        #expect(examination.isProved == (reason == .addedRoot))
    }

    @Test(arguments: Family.allCases)
    func theRightChainIsBelieved(family: Family) throws {
        let chain = try TestAuthority.shared.chain(family.signing)
        let examination = try family.verifier(of: chain).examine(family.proof(by: chain))
        #expect(examination.reason == .addedRoot)
        #expect(examination.isProved)
    }

    @Test(arguments: Family.allCases)
    func theRightChainIsNothingToWhoBelievesAppleAlone(family: Family) throws {
        let chain = try TestAuthority.shared.chain(family.signing)
        let examination = try TestVerifier.apple().examine(family.proof(by: chain))
        #expect(examination.reason == .untrustedRoot)
        #expect(!examination.isProved)
    }

    /// A key that was stolen after its certificate had ended can only date its work back; what it dates later is
    /// refused.
    @Test(arguments: Family.allCases, [ChainFlaw.leafExpired, .intermediateExpired])
    func anEndedCertificateCannotSignAnythingLater(family: Family, flaw: ChainFlaw) throws {
        let chain = try TestAuthority.shared.chain(family.signing, flaw: flaw)
        let beginning = try TestAuthority.shared.identity(family.signing.leaf).certificate.fields.notBefore
        let verifier = try family.verifier(of: chain)
        let before: Reason = family.saysWhenItWasSigned ? .certificateNotValid : .addedRoot
        let table: [(Int64, Reason)] = [
            (-1_000, before), (0, .addedRoot), (1_000, .addedRoot), (2_000, .certificateNotValid),
        ]
        for (delay, reason) in table {
            let moment = Timestamp(milliseconds: beginning + delay)
            #expect(verifier.reason(try family.proof(by: chain, at: moment)) == reason, "\(delay)")
        }
    }

    @Test(arguments: Family.allCases)
    func theMomentOfSigningIsJudgedToTheSecondAtBothEnds(family: Family) throws {
        let chain = try TestAuthority.shared.chain(family.signing)
        let fields = try TestAuthority.shared.identity(family.signing.leaf).certificate.fields
        let verifier = try family.verifier(of: chain)
        let before: Reason = family.saysWhenItWasSigned ? .certificateNotValid : .addedRoot
        let table: [(Int64, Reason)] = [
            (fields.notBefore - 1_000, before), (fields.notBefore, .addedRoot),
            (fields.notAfter, .addedRoot), (fields.notAfter + 1_000, .certificateNotValid),
        ]
        for (moment, reason) in table {
            let proof = try family.proof(by: chain, at: Timestamp(milliseconds: moment))
            #expect(verifier.reason(proof) == reason, "\(moment)")
        }
    }

    @Test(arguments: Family.allCases)
    func anotherMomentMayBeAskedFor(family: Family) throws {
        let chain = try TestAuthority.shared.chain(family.signing)
        let fields = try TestAuthority.shared.identity(family.signing.leaf).certificate.fields
        let proof = try family.proof(by: chain)
        let verifier = try family.verifier(of: chain)
        for (moment, reason) in [
            (fields.notAfter, Reason.addedRoot), (fields.notAfter + 1, .certificateNotValid),
            (Int64.max, .certificateNotValid), (Int64.min, .certificateNotValid),
        ] {
            let expecting = Expected(moment: Timestamp(milliseconds: moment))
            #expect(verifier.examine(proof, expecting: expecting).reason == reason)
        }
    }
}
