import Crypto

/// Finds the chains that lead from a leaf to a pinned root.
///
/// A path is found by name and key, not by position: Apple has given out two intermediates with one name and one key.
/// Rules: RFC 5280 § 6.1 for names, signatures, authorities, path lengths, key usage and critical extensions; Apple's
/// marker extensions and key types by ``ChainProfile``. Dates are left to whoever knows the moment of signing.
final class ChainBuilder: Sendable {
    private let anchors: TrustAnchors
    private let profile: ChainProfile
    private let sighted: @Sendable ([CertificateSighting]) -> Void
    /// Whether a root vouches for an intermediate: the dearest question, and there are few of either.
    private let vouching = ChainCache<Bool> { _ in true }

    init(
        anchors: TrustAnchors,
        profile: ChainProfile,
        sighted: @escaping @Sendable ([CertificateSighting]) -> Void
    ) {
        self.anchors = anchors
        self.profile = profile
        self.sighted = sighted
    }

    /// The chains through any of `candidates`, best first; never empty.
    ///
    /// - Throws: the fault of the first path.
    func chains(from leaf: Certificate, through candidates: [Certificate]) throws(Refusal) -> [CertificateChain] {
        try checkLeaf(leaf)
        var chains: [CertificateChain] = []
        var fault: Refusal?
        for intermediate in candidates where intermediate.fields.subjectDER == leaf.fields.issuerDER {
            for root in anchors.roots where root.certificate.fields.subjectDER == intermediate.fields.issuerDER {
                do throws(Refusal) {
                    chains.append(try chain(leaf, intermediate, root))
                } catch {
                    fault = fault ?? error
                }
            }
            if !anchors.roots.contains(where: { $0.certificate.fields.subjectDER == intermediate.fields.issuerDER }) {
                fault = fault ?? Refusal(.untrustedRoot, "no trusted root is called \(intermediate.fields.issuer)")
            }
        }
        guard chains.isEmpty else { return chains }
        throw fault ?? Refusal(.untrustedRoot, "no known authority is called \(leaf.fields.issuer)")
    }

    /// What a leaf must be by itself, whoever issued it.
    func checkSigner(_ leaf: Certificate) throws(Refusal) {
        try checkLeaf(leaf)
        try checkLeafMarker(leaf)
    }

    /// The one chain that a message spells out, in the order leaf, intermediate, root.
    func chain(
        _ leaf: Certificate,
        _ intermediate: Certificate,
        _ root: TrustAnchors.Root
    ) throws(Refusal) -> CertificateChain {
        try checkLeaf(leaf)
        guard leaf.fields.issuerDER == intermediate.fields.subjectDER else {
            throw Refusal(
                .issuerMismatch,
                "the leaf names \(leaf.fields.issuer), the intermediate is \(intermediate.fields.subject)"
            )
        }
        let key = ChainKey.of([intermediate.der[...], root.certificate.der[...]])
        _ = try vouching.answer(for: key[...]) { () throws(Refusal) in
            try check(intermediate, under: root.certificate)
            return true
        }
        try checkSignatureAlgorithm(of: leaf)
        guard leaf.isSigned(by: intermediate.publicKey) else {
            throw Refusal(.certificateSignature, "the intermediate's key did not sign the leaf")
        }
        try checkLeafMarker(leaf)
        try checkIntermediateMarker(intermediate)
        let chain = CertificateChain(leaf: leaf, intermediate: intermediate, root: root)
        sighted(chain.sightings(anchors))
        return chain
    }

    /// What costs most to find out about an intermediate, and needs no leaf.
    private func check(_ intermediate: Certificate, under root: Certificate) throws(Refusal) {
        try checkAuthority(intermediate, mayHaveBelow: 0)
        guard intermediate.fields.issuerDER == root.fields.subjectDER else {
            throw Refusal(
                .issuerMismatch,
                "the intermediate names \(intermediate.fields.issuer), the root is \(root.fields.subject)"
            )
        }
        try checkAuthority(root, mayHaveBelow: 1)
        try checkSignatureAlgorithm(of: intermediate)
        guard intermediate.isSigned(by: root.publicKey) else {
            throw Refusal(.certificateSignature, "the root's key did not sign the intermediate")
        }
    }

    private func checkLeaf(_ leaf: Certificate) throws(Refusal) {
        try checkExtensions(leaf)
        guard !leaf.fields.isCA else { throw Refusal(.leafIsCA, leaf.fields.subject) }
        if let usage = leaf.fields.keyUsage, !usage.contains(.digitalSignature) {
            throw Refusal(.keyUsage, "the leaf may not sign data")
        }
        switch (profile.keys, leaf.publicKey.kind) {
        case (.ellipticCurve, .p256): break
        case (.rsa(let leafBitsMin), .rsa(let bits)) where bits >= leafBitsMin: break
        default: throw Refusal(.keyType, "the leaf's key is \(leaf.publicKey.kind)")
        }
    }

    private func checkAuthority(_ authority: Certificate, mayHaveBelow below: Int) throws(Refusal) {
        try checkExtensions(authority)
        guard authority.fields.isCA else { throw Refusal(.intermediateNotCA, authority.fields.subject) }
        if let length = authority.fields.pathLength, length < below {
            throw Refusal(.pathLength, "\(authority.fields.subject) may have \(length) authorities below it")
        }
        if let usage = authority.fields.keyUsage, !usage.contains(.certificateSigning) {
            throw Refusal(.keyUsage, "\(authority.fields.subject) may not sign certificates")
        }
        switch (profile.keys, authority.publicKey.kind) {
        case (.ellipticCurve, .p256), (.ellipticCurve, .p384): break
        case (.rsa, .rsa(let bits)) where bits >= 2_048: break
        default: throw Refusal(.keyType, "the key of \(authority.fields.subject) is \(authority.publicKey.kind)")
        }
    }

    /// OpenSSL would check a signature over MD5 as well.
    private func checkSignatureAlgorithm(of certificate: Certificate) throws(Refusal) {
        let algorithm = certificate.fields.signatureAlgorithm
        guard profile.signatureAlgorithms.contains(algorithm) else {
            throw Refusal(.algorithmNotAllowed, "\(certificate.fields.subject) is signed by \(algorithm)")
        }
    }

    private func checkLeafMarker(_ leaf: Certificate) throws(Refusal) {
        guard leaf.hasExtension(profile.leafMarker) else {
            throw Refusal(.leafMarkerMissing, "\(leaf.fields.subject) has no \(profile.leafMarker)")
        }
    }

    private func checkIntermediateMarker(_ intermediate: Certificate) throws(Refusal) {
        guard intermediate.hasExtension(profile.intermediateMarker) else {
            throw Refusal(
                .intermediateMarkerMissing,
                "\(intermediate.fields.subject) has no \(profile.intermediateMarker)"
            )
        }
    }

    /// A critical extension that this code does not judge refuses the certificate. None stands twice: ``Certificate``
    /// refuses that.
    private func checkExtensions(_ certificate: Certificate) throws(Refusal) {
        for element in certificate.fields.extensions
        where element.isCritical && !ChainBuilder.judged.contains(element.oid) {
            throw Refusal(
                .certificateExtension,
                "\(certificate.fields.subject): critical \(element.oid) is not understood"
            )
        }
    }

    /// Basic constraints, key usage; extended key usage and policies, for which Apple's marker stands: it names one
    /// purpose, and no certificate for any other has it.
    private static let judged: Set<String> = ["2.5.29.19", "2.5.29.15", "2.5.29.37", "2.5.29.32"]
}
