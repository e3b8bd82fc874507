import Crypto
import PurchaseModel
import Simulator
import TestSupport

/// A certificate that a test makes by hand, wrong in whatever way it likes.
struct IssuedCertificate {
    let certificate: Certificate

    init(
        subject: String,
        issuer: SigningIdentity?,
        key: PrivateKey,
        digest: Digest = .sha256,
        extensions: [CertificateExtension]
    ) throws {
        let name = DistinguishedName(commonName: subject, organization: subject)
        try self.init(subject: name, issuer: issuer, key: key, digest: digest, extensions: extensions)
    }

    init(
        subject: DistinguishedName,
        issuer: SigningIdentity?,
        key: PrivateKey,
        digest: Digest = .sha256,
        extensions: [CertificateExtension]
    ) throws {
        let name = try issuer.map { try IssuedCertificate.name(of: $0.certificate) } ?? subject
        let signer = CertificateIssuer(name: name, key: issuer?.key ?? key, digest: digest)
        certificate = try signer.issue(IssuedCertificate.request(subject, key.publicKey, extensions))
    }

    /// For a key of which only the public half is at hand.
    init(
        subject: DistinguishedName,
        issuer: SigningIdentity,
        key: PublicKey,
        extensions: [CertificateExtension]
    ) throws {
        let signer = CertificateIssuer(
            name: try IssuedCertificate.name(of: issuer.certificate),
            key: issuer.key,
            digest: .sha256
        )
        certificate = try signer.issue(IssuedCertificate.request(subject, key, extensions))
    }

    private static func request(
        _ subject: DistinguishedName,
        _ key: PublicKey,
        _ extensions: [CertificateExtension]
    ) -> CertificateIssuer.Request {
        CertificateIssuer.Request(
            subject: subject,
            publicKey: key,
            serial: [0x4D] + Digest.sha256(key.der).prefix(15),
            notBefore: TestAuthority.moment.milliseconds - 31_536_000_000,
            notAfter: TestAuthority.moment.milliseconds + 31_536_000_000,
            extensions: extensions
        )
    }

    /// The subject of one of the simulator's certificates, as it is to be written again.
    static func name(of certificate: Certificate) throws -> DistinguishedName {
        let parts = certificate.fields.subject.split(separator: ",").reversed()
        return DistinguishedName(
            parts.map { part in
                let pair = part.split(separator: "=", maxSplits: 1).map { String($0) }
                return DistinguishedName.Attribute(pair[0], pair[1])
            }
        )
    }
}
