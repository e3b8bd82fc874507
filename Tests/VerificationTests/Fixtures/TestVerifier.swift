import Crypto
import Simulator
import TestSupport
import Verification

/// Verifiers under test: the real one, with the anchors of a test.
enum TestVerifier {
    /// Believes Apple alone.
    static func apple() throws -> Verifier { try appleAlone.get() }

    /// Believes Apple and the simulator, and has seen proofs before.
    static func simulated() throws -> Verifier { try withSimulator.get() }

    /// Believes Apple, the simulator and what a test adds, and has seen nothing yet.
    static func fresh(_ change: (inout TrustAnchors) throws -> Void = { _ in }) throws -> Verifier {
        var anchors = try simulatedAnchors()
        try change(&anchors)
        return Verifier(anchors: anchors)
    }

    /// Believes Apple and what a test adds.
    static func adding(_ change: (inout TrustAnchors) throws -> Void) throws -> Verifier {
        var anchors = try TrustAnchors.apple()
        try change(&anchors)
        return Verifier(anchors: anchors)
    }

    /// Apple's anchors, the simulator's roots, and its intermediates, which iOS 6 receipts do not carry.
    static func simulatedAnchors() throws -> TrustAnchors {
        var anchors = try rootsOfBoth()
        for member in [AuthorityMember.oldIntermediate, .sha1Intermediate, .sha256Intermediate] {
            anchors.addIntermediate(try TestAuthority.shared.identity(member).certificate)
        }
        return anchors
    }

    /// Apple's anchors and the simulator's roots.
    static func rootsOfBoth() throws -> TrustAnchors {
        var anchors = try TrustAnchors.apple()
        for root in try TestAuthority.shared.roots() { anchors.addRoot(try Certificate(der: root)) }
        return anchors
    }

    private static let appleAlone = Result { try adding { _ in } }
    private static let withSimulator = Result { try fresh() }
}

/// The testing library has an `Expectation` of its own.
typealias Expected = Expectation

extension Verifier {
    /// What became of a proof of which nothing was expected.
    func examine(_ bytes: some Collection<UInt8>) -> Examination { examine(Array(bytes), expecting: Expectation()) }

    func examine(_ text: String, expecting: Expectation = Expectation()) -> Examination {
        examine(Array(text.utf8), expecting: expecting)
    }

    func reason(_ bytes: some Collection<UInt8>) -> Reason { examine(bytes).report.reason }

    func reason(_ text: String) -> Reason { examine(text).report.reason }
}

extension Examination {
    var reason: Reason { report.reason }
    var verdict: Verdict { report.verdict }

    /// Whether anything may be acted upon: only what was proved may.
    var isProved: Bool { proof != nil }

    /// The outcomes of one check, in their order.
    func outcomes(_ name: CheckName) -> [Check.Outcome] {
        report.checks.filter { $0.name == name }.map(\.outcome)
    }

    /// No refusal may leave a proof behind, and no proof may say more than its report.
    var isConsistent: Bool {
        guard let proof else { return verdict != .genuine }
        return (verdict == .genuine || verdict == .testSigned) && proof.verdict == verdict
            && proof.fact.claims == report.claims
    }
}
