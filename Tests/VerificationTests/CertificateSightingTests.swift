import Crypto
import PurchaseModel
import Simulator
import Synchronization
import TestSupport
import Testing
import Verification

/// What verification tells of the certificates that it meets.
@Suite struct CertificateSightingTests {
    private final class Noted: Sendable {
        private let list = Mutex<[[CertificateSighting]]>([])

        var all: [[CertificateSighting]] { list.withLock { $0 } }

        func note(_ sightings: [CertificateSighting]) { list.withLock { $0.append(sightings) } }
    }

    private static func verifier(_ noted: Noted) throws -> Verifier {
        Verifier(anchors: try TestVerifier.rootsOfBoth()) { noted.note($0) }
    }

    @Test func aChainThatHoldsIsToldOfWhenItIsJudged() throws {
        let noted = Noted()
        let verifier = try Self.verifier(noted)
        let chain = try TestAuthority.shared.chain(.jws)
        for _ in 1...3 {
            let examination = try verifier.examine(JWSSigner(chain).sign(Sample.payload()))
            #expect(examination.isProved)
        }
        #expect(noted.all.count == 1)
        let told = try #require(noted.all.first)
        #expect(told.map(\.role) == [.leaf, .intermediate, .root])
        #expect(told.map(\.facts.sha256) == chain.certificates.map { Digest.sha256($0) })
        #expect(told.allSatisfy { $0.voucher == .addedRoot })
        // The operator added the root; leaf and intermediate came with the proof.
        #expect(told.map(\.isProvided) == [false, false, true])
    }

    /// What a sender makes up does not get into the inventory.
    @Test func aChainThatDoesNotHoldIsNotToldOf() throws {
        let noted = Noted()
        let verifier = try Self.verifier(noted)
        var chain = try TestAuthority.shared.chain(.jws)
        chain.certificates[1] = try BuiltIn.certificate("AppleWWDRCAG6").der
        let examination = try verifier.examine(JWSSigner(chain).sign(Sample.payload()))
        #expect(!examination.isProved)
        #expect(noted.all.isEmpty)
    }

    @Test func whatIsTrustedFromTheStartIsListed() throws {
        let provided = try TrustAnchors.apple().sightings
        #expect(provided.filter { $0.role == .root }.count == 4)
        #expect(provided.filter { $0.role == .intermediate }.count == 7)
        #expect(provided.allSatisfy { $0.voucher == .apple && $0.isProvided })
    }
}
