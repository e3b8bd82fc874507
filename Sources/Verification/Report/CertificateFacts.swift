package import Crypto
package import PurchaseModel

/// What the operator is shown of a certificate.
package struct CertificateFacts: Hashable, Sendable {
    package let subject: String
    package let issuer: String
    /// Hexadecimal, lower case.
    package let serial: String
    /// 32 bytes.
    package let sha256: [UInt8]
    package let notBefore: Timestamp
    package let notAfter: Timestamp

    package init(_ certificate: Certificate) {
        subject = certificate.fields.subject
        issuer = certificate.fields.issuer
        serial = certificate.serialText
        sha256 = certificate.sha256
        notBefore = Timestamp(milliseconds: certificate.fields.notBefore)
        notAfter = Timestamp(milliseconds: certificate.fields.notAfter)
    }
}

extension CertificateFacts {
    /// What can be read of certificates that nobody vouches for; the unreadable ones are left out.
    static func readable(_ certificates: [[UInt8]]) -> [CertificateFacts] {
        certificates.compactMap { der in (try? Certificate(der: der)).map(CertificateFacts.init) }
    }
}
