/// An X.509 certificate, read once into plain values. Reading one trusts nobody: see ``isSigned(by:)-(Certificate)``.
///
/// Source: RFC 5280 § 4.1.
package struct Certificate: Sendable {
    /// The certificate as it was given.
    package let der: [UInt8]
    /// Of ``der``.
    package let sha256: [UInt8]
    package let fields: Fields
    package let publicKey: PublicKey
    private let handle: SharedHandle

    /// What stands in a certificate.
    package struct Fields: Sendable {
        /// In the manner of RFC 2253, ASCII only; control and other bytes are escaped.
        package var subject: String
        package var issuer: String
        /// DER, for comparisons byte by byte.
        package var subjectDER: [UInt8]
        package var issuerDER: [UInt8]
        /// The content of the DER INTEGER: two's complement, big-endian, shortest form.
        package var serial: [UInt8]
        /// Milliseconds since 1970; the first and the last moment of its validity.
        package var notBefore: Int64
        package var notAfter: Int64
        /// True only when basic constraints say so.
        package var isCA: Bool
        /// How many further issuers may stand below this one; `nil` when there is no limit.
        package var pathLength: Int?
        /// `nil` when the certificate does not restrict it.
        package var keyUsage: KeyUsage?
        /// The names of the certificate's own key and of the key that signed it; `nil` when it does not tell.
        package var subjectKeyID: [UInt8]?
        package var authorityKeyID: [UInt8]?
        /// In the certificate's order, each OID once.
        package var extensions: [CertificateExtension]
        /// Dotted OID.
        package var signatureAlgorithm: String
    }

    /// Longer ones are not looked at: Apple's have less than 2 000 bytes, and anybody may send us any.
    package static let bytesMax = 32_768

    /// Reads one certificate. Refused are: more bytes than ``bytesMax``, bytes after it, an encoding that is not DER,
    /// an OID among the extensions twice, an extension that OpenSSL knows and cannot read, and a key that it does not
    /// know.
    package init(der: [UInt8]) throws(CryptoError) {
        guard der.count <= Certificate.bytesMax else { throw .malformed("longer than any certificate") }
        let reader = try CertificateReader(der: der)
        self.der = der
        sha256 = Digest.sha256(der)
        fields = try reader.fields()
        publicKey = try reader.publicKey()
        handle = reader.handle
    }

    /// True when the key's private half signed this certificate. Nothing else is looked at: neither names nor dates,
    /// nor whether the key may issue.
    package func isSigned(by key: PublicKey) -> Bool {
        CertificateReader.isSigned(handle, by: key.handle)
    }

    /// True when the issuer's key signed this certificate; nothing else is looked at here either.
    package func isSigned(by issuer: Certificate) -> Bool {
        isSigned(by: issuer.publicKey)
    }

    package func hasExtension(_ oid: String) -> Bool {
        fields.extensions.contains { $0.oid.utf8.elementsEqual(oid.utf8) }
    }

    /// Lower-case hexadecimal, two digits a byte of ``Fields/serial``.
    package var serialText: String {
        let digits = Array("0123456789abcdef".utf8)
        let text = fields.serial.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}

extension Certificate: Equatable {
    package static func == (left: Certificate, right: Certificate) -> Bool { left.der == right.der }
}
