package import Encoding
package import Storage

/// A certificate as our answers and commands write it.
package enum CertificateJSON {
    package static func write(_ certificate: SeenCertificate, into json: inout JSONObjectWriter) {
        json.member("sha256", Hexadecimal.encode(certificate.sha256))
        json.member("role", certificate.role)
        json.member("vouched_by", certificate.vouchedBy)
        json.member("subject", certificate.subject)
        json.member("issuer", certificate.issuer)
        json.member("serial", certificate.serial)
        json.member("not_before", certificate.notBefore)
        json.member("not_after", certificate.notAfter)
        json.member("first_seen_at", certificate.firstSeenAt)
    }
}
