import Crypto

/// A certificate of a chain that a trusted root vouches for, or one that is trusted from the start.
package struct CertificateSighting: Hashable, Sendable {
    /// Its place in a chain.
    package enum Role: String, Hashable, Sendable {
        case root, intermediate, leaf
    }

    package let facts: CertificateFacts
    package let role: Role
    /// Who vouches for it.
    package let voucher: Voucher
    /// Whether it was known without any proof: built in, or added by the operator.
    package let isProvided: Bool

    package init(facts: CertificateFacts, role: Role, voucher: Voucher, isProvided: Bool) {
        self.facts = facts
        self.role = role
        self.voucher = voucher
        self.isProvided = isProvided
    }
}

extension CertificateChain {
    /// Each of its certificates; what an authority vouches for is known by the anchors.
    func sightings(_ anchors: TrustAnchors) -> [CertificateSighting] {
        zip([leaf, intermediate, root], [CertificateSighting.Role.leaf, .intermediate, .root]).map {
            certificate,
            role in
            CertificateSighting(
                facts: CertificateFacts(certificate),
                role: role,
                voucher: voucher,
                isProvided: anchors.certificate(equalTo: certificate.der[...]) != nil
            )
        }
    }
}

extension TrustAnchors {
    /// The roots, and the intermediates that are known without a proof. An intermediate counts as its root's.
    package var sightings: [CertificateSighting] {
        let roots = roots.map { root in
            CertificateSighting(
                facts: CertificateFacts(root.certificate),
                role: .root,
                voucher: root.voucher,
                isProvided: true
            )
        }
        let issued = intermediates.map { certificate in
            let issuer = self.roots.first { $0.certificate.fields.subjectDER == certificate.fields.issuerDER }
            return CertificateSighting(
                facts: CertificateFacts(certificate),
                role: .intermediate,
                voucher: issuer?.voucher ?? .addedRoot,
                isProvided: true
            )
        }
        return roots + issued
    }
}
