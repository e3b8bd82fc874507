import Crypto

/// What a member's certificate looks like beside its key, dates and issuer.
struct CertificateShape: Sendable {
    var subject: DistinguishedName
    var algorithm: PrivateKey.Algorithm
    /// Of the signature that stands under it.
    var digest: Digest
    var isCA = false
    var pathLength: UInt8?
    var keyUsage: KeyUsage? = .digitalSignature
    var extendedKeyUsage: [String] = []
    var policies: [String] = []
    /// Apple's own extension; its value is NULL, only its presence counts.
    var marker: String?
    var hasUnknownCriticalExtension = false
    /// `nil`: taken from the key.
    var serial: [UInt8]?

    func extensions(subject: PublicKey, authority: PublicKey?) throws(CryptoError) -> [CertificateExtension] {
        var extensions: [CertificateExtension] = [.basicConstraints(isCA: isCA, pathLength: pathLength)]
        if let authority { extensions.append(.authorityKeyIdentifier(authority)) }
        if !policies.isEmpty { extensions.append(try .policies(policies)) }
        extensions.append(.subjectKeyIdentifier(subject))
        if let keyUsage { extensions.append(.keyUsage(keyUsage)) }
        if !extendedKeyUsage.isEmpty { extensions.append(try .extendedKeyUsage(extendedKeyUsage)) }
        if let marker { extensions.append(CertificateExtension(oid: marker, isCritical: false, value: [5, 0])) }
        if hasUnknownCriticalExtension {
            extensions.append(CertificateExtension(oid: CertificateShape.unknown, isCritical: true, value: [5, 0]))
        }
        return extensions
    }

    /// On the leaf: signs receipts of the App Store.
    static let receiptSigning = "1.2.840.113635.100.6.11.1"
    /// On the intermediate: Apple's developer relations.
    static let developerRelations = "1.2.840.113635.100.6.2.1"
    /// On the leaf of iOS 6 receipts of version 2.
    static let purchaseReceiptSigning = "1.2.840.113635.100.6.5.1"
    /// On the intermediate of iOS 6 receipts of version 2: the iTunes Store's own authority.
    static let itunesStore = "1.2.840.113635.100.6.2.2"
    private static let policy = "1.2.840.113635.100.5.6.1"
    /// In the arc that is set aside for examples.
    private static let unknown = "2.999.1"
    private static let codeSigning = "1.3.6.1.5.5.7.3.3"
}

extension CertificateShape {
    /// The shape of Apple's certificate in this place. Every name says that it is simulated.
    init(_ member: AuthorityMember) {
        switch member {
        case .jwsRoot:
            self = .root("Simulated Root CA - G3", .p384, .sha384)
        case .jwsIntermediate:
            self = .developerRelations(unit: "Simulated G6", .p384, .sha384)
        case .jwsLeaf:
            self = .leaf("Simulated ECC Mac App Store and iTunes Store Receipt Signing", .p256, .sha384)
        case .receiptRoot:
            self = .root("Simulated Root CA", .rsa2048, .sha1)
        case .sha1Intermediate:
            self = .developerRelations(unit: "Simulated Developer Relations", .rsa2048, .sha1)
        case .sha1Leaf:
            self = .leaf("Simulated Mac App Store and iTunes Store Receipt Signing", .rsa2048, .sha1)
        case .sha256Intermediate:
            self = .developerRelations(unit: "Simulated G5", .rsa2048, .sha256)
        case .sha256Leaf:
            self = .leaf("Simulated Mac App Store and iTunes Store Receipt Signing", .rsa2048, .sha256)
        case .oldIntermediate:
            self = .developerRelations(unit: "Simulated Certification Authority", .rsa2048, .sha1)
            subject = .simulated("Simulated iTunes Store Certification Authority", "Simulated Certification Authority")
            marker = Self.itunesStore
        case .oldLeaf:
            self = .leaf("Simulated PurchaseReceiptCertificate", .rsa1024, .sha1)
            policies = []
            marker = Self.purchaseReceiptSigning
        case .xcodeJWS:
            self = .root("Simulated StoreKit Testing in Xcode", .p256, .sha256)
            subject = DistinguishedName(
                commonName: "Simulated StoreKit Testing in Xcode",
                organization: "Simulated StoreKit Testing in Xcode"
            )
            keyUsage = .digitalSignature
            isCA = false
            serial = [1]
        case .xcodeReceipt:
            self = .root("Simulated StoreKit", .rsa2048, .sha256)
            subject = .simulated("Simulated StoreKit", "StoreKit")
            extendedKeyUsage = [Self.codeSigning]
            keyUsage = nil
            serial = [1]
        }
    }

    private static func root(
        _ name: String,
        _ algorithm: PrivateKey.Algorithm,
        _ digest: Digest
    ) -> CertificateShape {
        CertificateShape(
            subject: .simulated(name, "Simulated Certification Authority"),
            algorithm: algorithm,
            digest: digest,
            isCA: true,
            keyUsage: [.certificateSigning, .revocationListSigning]
        )
    }

    private static func developerRelations(
        unit: String,
        _ algorithm: PrivateKey.Algorithm,
        _ digest: Digest
    ) -> CertificateShape {
        CertificateShape(
            subject: .simulated("Simulated Worldwide Developer Relations Certification Authority", unit),
            algorithm: algorithm,
            digest: digest,
            isCA: true,
            pathLength: 0,
            keyUsage: [.certificateSigning, .revocationListSigning],
            marker: developerRelations
        )
    }

    private static func leaf(
        _ name: String,
        _ algorithm: PrivateKey.Algorithm,
        _ digest: Digest
    ) -> CertificateShape {
        CertificateShape(
            subject: .simulated(name, "Simulated Worldwide Developer Relations"),
            algorithm: algorithm,
            digest: digest,
            policies: [policy],
            marker: receiptSigning
        )
    }
}

extension DistinguishedName {
    fileprivate static func simulated(_ name: String, _ unit: String) -> DistinguishedName {
        DistinguishedName(
            commonName: name,
            organizationalUnit: unit,
            organization: "Simulated App Store",
            country: "US"
        )
    }
}
