package import Crypto
package import PurchaseModel

/// A key with its certificate.
package struct SigningIdentity: Sendable {
    package let key: PrivateKey
    package let certificate: Certificate

    package init(key: PrivateKey, certificate: Certificate) {
        self.key = key
        self.certificate = certificate
    }
}

/// What a proof is signed with, and the certificates that go with it.
package struct SigningChain: Sendable {
    /// Signs.
    package var key: PrivateKey
    /// Named in a receipt as the signer's.
    package var signer: Certificate
    /// DER, in the order in which they are sent.
    package var certificates: [[UInt8]]

    package init(key: PrivateKey, signer: Certificate, certificates: [[UInt8]]) {
        self.key = key
        self.signer = signer
        self.certificates = certificates
    }
}

/// All that decides a certificate. Changing one field and issuing again gives one that differs in that field alone.
struct CertificateRecipe: Sendable {
    var shape: CertificateShape
    var key: PrivateKey
    var notBefore: Int64
    var notAfter: Int64
    var issuer: DistinguishedName
    /// Signs; its public half need not be ``authority``.
    var issuerKey: PrivateKey
    /// The key that the certificate says signed it; `nil` when it says nothing.
    var authority: PublicKey?

    func issue() throws(CryptoError) -> SigningIdentity {
        let request = CertificateIssuer.Request(
            subject: shape.subject,
            publicKey: key.publicKey,
            serial: shape.serial ?? CertificateRecipe.serial(for: key.publicKey),
            notBefore: notBefore,
            notAfter: notAfter,
            extensions: try shape.extensions(subject: key.publicKey, authority: authority)
        )
        let certificate = try CertificateIssuer(name: issuer, key: issuerKey, digest: shape.digest).issue(request)
        return SigningIdentity(key: key, certificate: certificate)
    }

    /// 16 bytes that follow from the key: positive, and never shorter.
    private static func serial(for key: PublicKey) -> [UInt8] {
        var serial = [UInt8](Digest.sha256(key.der).prefix(16))
        serial[0] = serial[0] & 0x3F | 0x40
        return serial
    }
}

/// From when until when the authority's certificates are good.
package struct AuthorityValidity: Hashable, Sendable {
    package var authorities: ClosedRange<Timestamp>
    package var leaves: ClosedRange<Timestamp>

    package init(authorities: ClosedRange<Timestamp>, leaves: ClosedRange<Timestamp>) {
        self.authorities = authorities
        self.leaves = leaves
    }

    /// The same for all.
    package init(_ range: ClosedRange<Timestamp>) {
        self.init(authorities: range, leaves: range)
    }
}
