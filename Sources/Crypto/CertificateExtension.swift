import COpenSSL

/// One extension of an X.509 certificate: an OID, whether it must be understood, and its DER.
package struct CertificateExtension: Hashable, Sendable {
    /// Dotted, such as `2.5.29.19`.
    package var oid: String
    package var isCritical: Bool
    package var value: [UInt8]

    package init(oid: String, isCritical: Bool, value: [UInt8]) {
        self.oid = oid
        self.isCritical = isCritical
        self.value = value
    }
}

// The extensions of RFC 5280 § 4.2.1 that an authority writes, each in its section's DER.
extension CertificateExtension {
    /// Basic constraints, § 4.2.1.9: whether the subject may issue, and how many issuers may stand below it.
    package static func basicConstraints(isCA: Bool, pathLength: UInt8? = nil) -> CertificateExtension {
        var body: [UInt8] = isCA ? [0x01, 0x01, 0xFF] : []
        if let pathLength { body += [0x02, 0x01, pathLength & 0x7F] }
        return CertificateExtension(oid: "2.5.29.19", isCritical: true, value: [0x30, UInt8(body.count)] + body)
    }

    /// Key usage, § 4.2.1.3.
    package static func keyUsage(_ usage: KeyUsage) -> CertificateExtension {
        let bits = UInt8(truncatingIfNeeded: usage.rawValue)
        let value: [UInt8] = bits == 0 ? [0x03, 0x01, 0x00] : [0x03, 0x02, UInt8(bits.trailingZeroBitCount), bits]
        return CertificateExtension(oid: "2.5.29.15", isCritical: true, value: value)
    }

    /// Extended key usage, § 4.2.1.12, by dotted OIDs.
    package static func extendedKeyUsage(_ oids: [String]) throws(CryptoError) -> CertificateExtension {
        var body: [UInt8] = []
        for oid in oids { body += try ObjectID(dotted: oid).der }
        return CertificateExtension(oid: "2.5.29.37", isCritical: false, value: try shortSequence(body))
    }

    /// Certificate policies, § 4.2.1.4, by dotted OIDs without qualifiers.
    package static func policies(_ oids: [String]) throws(CryptoError) -> CertificateExtension {
        var body: [UInt8] = []
        for oid in oids { body += try shortSequence(ObjectID(dotted: oid).der) }
        return CertificateExtension(oid: "2.5.29.32", isCritical: false, value: try shortSequence(body))
    }

    /// Subject key identifier, § 4.2.1.2, method 1: the SHA-1 of the key's bits.
    package static func subjectKeyIdentifier(_ key: PublicKey) -> CertificateExtension {
        CertificateExtension(oid: "2.5.29.14", isCritical: false, value: [0x04, 20] + key.identifier)
    }

    /// Authority key identifier, § 4.2.1.1: the identifier of the key that signs.
    package static func authorityKeyIdentifier(_ key: PublicKey) -> CertificateExtension {
        CertificateExtension(oid: "2.5.29.35", isCritical: false, value: [0x30, 22, 0x80, 20] + key.identifier)
    }

    private static func shortSequence(_ body: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard body.count < 128 else { throw .unsupported("an extension of more than 127 bytes") }
        return [0x30, UInt8(body.count)] + body
    }
}

/// What a certificate's key may be used for, RFC 5280 § 4.2.1.3. The bits are those of the first byte of the BIT
/// STRING; the ninth, decipher-only, is 0x8000.
package struct KeyUsage: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let digitalSignature = KeyUsage(rawValue: 0x80)
    package static let nonRepudiation = KeyUsage(rawValue: 0x40)
    package static let keyEncipherment = KeyUsage(rawValue: 0x20)
    package static let certificateSigning = KeyUsage(rawValue: 0x04)
    package static let revocationListSigning = KeyUsage(rawValue: 0x02)
}
