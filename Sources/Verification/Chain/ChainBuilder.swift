import Crypto

/// Finds the chains that lead from a leaf to a pinned root.
///
/// A path is found by name and key, not by position: Apple has given out two intermediates with one name and one key.
/// Rules: RFC 5280 § 6.1 for names, signatures, authorities, path lengths, key usage and critical extensions; Apple's
/// marker extensions and key types by ``ChainProfile``. Dates are left to whoever knows the moment of signing.
struct ChainBuilder: Sendable {
    let anchors: TrustAnchors
    let profile: ChainProfile

    /// The chains through any of `candidates`, best first; never empty.
    ///
    /// - Throws: the fault of the path that came furthest.
    func chains(from leaf: Certificate, through candidates: [Certificate]) throws(Refusal) -> [CertificateChain] {
        try checkLeaf(leaf)
        var chains: [CertificateChain] = []
        var fault = Refusal(.untrustedRoot, "no known authority is called \(leaf.fields.issuer)")
        for intermediate in candidates where intermediate.fields.subjectDER == leaf.fields.issuerDER {
            for root in anchors.roots where root.certificate.fields.subjectDER == intermediate.fields.issuerDER {
                do throws(Refusal) {
                    chains.append(try chain(leaf, intermediate, root))
                } catch {
                    fault = error
                }
            }
            if !anchors.roots.contains(where: { $0.certificate.fields.subjectDER == intermediate.fields.issuerDER }) {
                fault = Refusal(.untrustedRoot, "no trusted root is called \(intermediate.fields.issuer)")
            }
        }
        guard !chains.isEmpty else { throw fault }
        return chains
    }

    /// The one chain that a message spells out, in the order leaf, intermediate, root.
    func chain(
        _ leaf: Certificate,
        _ intermediate: Certificate,
        _ root: TrustAnchors.Root
    ) throws(Refusal) -> CertificateChain {
        try checkLeaf(leaf)
        try checkAuthority(intermediate, mayHaveBelow: 0)
        guard leaf.fields.issuerDER == intermediate.fields.subjectDER else {
            throw Refusal(
                .issuerMismatch,
                "the leaf names \(leaf.fields.issuer), the intermediate is \(intermediate.fields.subject)"
            )
        }
        guard intermediate.fields.issuerDER == root.certificate.fields.subjectDER else {
            throw Refusal(
                .issuerMismatch,
                "the intermediate names \(intermediate.fields.issuer), the root is \(root.certificate.fields.subject)"
            )
        }
        try checkAuthority(root.certificate, mayHaveBelow: 1)
        guard intermediate.isSigned(by: root.certificate.publicKey) else {
            throw Refusal(.certificateSignature, "the root's key did not sign the intermediate")
        }
        guard leaf.isSigned(by: intermediate.publicKey) else {
            throw Refusal(.certificateSignature, "the intermediate's key did not sign the leaf")
        }
        try checkMarkers(leaf, intermediate)
        return CertificateChain(leaf: leaf, intermediate: intermediate, root: root)
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

    private func checkMarkers(_ leaf: Certificate, _ intermediate: Certificate) throws(Refusal) {
        guard leaf.hasExtension(profile.leafMarker) else {
            throw Refusal(.leafMarkerMissing, "\(leaf.fields.subject) has no \(profile.leafMarker)")
        }
        guard intermediate.hasExtension(profile.intermediateMarker) else {
            throw Refusal(
                .intermediateMarkerMissing,
                "\(intermediate.fields.subject) has no \(profile.intermediateMarker)"
            )
        }
    }

    /// No extension may stand twice, and a critical one that this code does not judge refuses the certificate.
    private func checkExtensions(_ certificate: Certificate) throws(Refusal) {
        var seen: Set<String> = []
        for element in certificate.fields.extensions {
            guard seen.insert(element.oid).inserted else {
                throw Refusal(.certificateExtension, "\(certificate.fields.subject) has \(element.oid) twice")
            }
            if element.isCritical, !ChainBuilder.judged.contains(element.oid) {
                throw Refusal(
                    .certificateExtension,
                    "\(certificate.fields.subject): critical \(element.oid) is not understood"
                )
            }
        }
    }

    /// Basic constraints, key usage, extended key usage, certificate policies.
    private static let judged: Set<String> = ["2.5.29.19", "2.5.29.15", "2.5.29.37", "2.5.29.32"]
}
