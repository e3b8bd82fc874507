import Crypto
import Encoding
import PurchaseModel
import Simulator
import TestSupport
import Testing
import Verification

/// An iOS 6 receipt does not carry the authority that issued its signer. That Apple has such a one and we do not is
/// said only of what may be Apple's: all else is forged, and waits for nothing.
@Suite struct MissingAuthorityTests {
    private static let apple = [
        DistinguishedName.Attribute("C", "US"), .init("O", "Apple Inc."),
        .init("OU", "Apple Certification Authority"), .init("CN", "Apple iTunes Store Certification Authority"),
    ]
    private static let marker = CertificateExtension(oid: "1.2.840.113635.100.6.5.1", isCritical: false, value: [5, 0])
    private static let right: [CertificateExtension] = [
        .basicConstraints(isCA: false), .keyUsage(.digitalSignature), marker,
    ]

    /// A receipt of version 2 by a signer whose issuer is known by its name alone.
    private static func receipt(
        issuer: [DistinguishedName.Attribute] = apple,
        extensions: [CertificateExtension] = right,
        subject: DistinguishedName = DistinguishedName(commonName: "PurchaseReceiptCertificate")
    ) throws -> [UInt8] {
        let key = try TestAuthority.shared.chain(.oldReceipt).key
        let authority = CertificateIssuer(
            name: DistinguishedName(issuer),
            key: try TestAuthority.shared.identity(.sha1Intermediate).key,
            digest: .sha1
        )
        let certificate = try authority.issue(
            CertificateIssuer.Request(
                subject: subject,
                publicKey: key.publicKey,
                serial: [1],
                notBefore: 0,
                notAfter: Sample.moment.milliseconds * 2,
                extensions: extensions
            )
        )
        let chain = SigningChain(key: key, signer: certificate, certificates: [certificate.der])
        return try OldReceiptSigner(chain, version: .two).sign(Sample.transaction(), of: TestAuthority.app())
    }

    @Test func itsNameIsTold() throws {
        let examination = try TestVerifier.simulated().examine(Self.receipt())
        #expect(examination.reason == .intermediateMissing)
        #expect(examination.report.detail?.contains("CN=Apple iTunes Store Certification Authority") == true)
        #expect(!examination.isProved)
    }

    /// An authority may have had several keys under one name; a leaf says which of them signed it.
    @Test func anotherKeyOfAKnownNameIsMissingAndNotForged() throws {
        let (known, other) = (
            try PrivateKey(generate: .rsa2048), try TestAuthority.shared.identity(.sha1Intermediate).key
        )
        let authority = try CertificateIssuer(name: DistinguishedName(Self.apple), key: known, digest: .sha1).issue(
            CertificateIssuer.Request(
                subject: DistinguishedName(Self.apple),
                publicKey: known.publicKey,
                serial: [2],
                notBefore: 0,
                notAfter: Sample.moment.milliseconds * 2,
                extensions: [.basicConstraints(isCA: true), .subjectKeyIdentifier(known.publicKey)]
            )
        )
        let verifier = try TestVerifier.fresh { $0.addIntermediate(authority) }
        let named = try Self.receipt(extensions: Self.right + [.authorityKeyIdentifier(other.publicKey)])
        let examination = verifier.examine(named)
        #expect(examination.reason == .intermediateMissing)
        #expect(!examination.isProved)
        let digits = Hexadecimal.encode(other.publicKey.identifier)
        #expect(examination.report.detail?.contains("Apple iTunes Store Certification Authority") == true)
        #expect(examination.report.detail?.hasSuffix("key \(digits)") == true)
        // Whoever names the known key, or none, is held to it.
        let claimed = try Self.receipt(extensions: Self.right + [.authorityKeyIdentifier(known.publicKey)])
        #expect(verifier.examine(claimed).verdict == .forged)
        #expect(verifier.examine(try Self.receipt()).verdict == .forged)
    }

    @Test func whatOnlyMentionsApplesNameIsForged() throws {
        let names: [[DistinguishedName.Attribute]] = [
            [.init("CN", "Apple iTunes Store Certification Authority")],
            [.init("O", "Apple Inc."), .init("CN", "Apple iTunes Store Certification Authority 2")],
            [.init("O", "CN=Apple iTunes Store Certification Authority"), .init("CN", "Somebody")],
            [.init("O", "Apple Inc"), .init("CN", "Apple iTunes Store Certification Authority")],
            [.init("O", "Apple Inc."), .init("CN", "Apple Root CA")],
        ]
        for name in names {
            #expect(try TestVerifier.simulated().reason(Self.receipt(issuer: name)) == .untrustedRoot)
        }
    }

    @Test func whatIsNoReceiptSignerIsForged() throws {
        let table: [([CertificateExtension], Reason)] = [
            ([.basicConstraints(isCA: false), .keyUsage(.digitalSignature)], .leafMarkerMissing),
            ([.basicConstraints(isCA: true), Self.marker], .leafIsCA),
            ([.basicConstraints(isCA: false), .keyUsage(.keyEncipherment), Self.marker], .keyUsage),
            (
                Self.right + [CertificateExtension(oid: "2.999.1", isCritical: true, value: [5, 0])],
                .certificateExtension
            ),
        ]
        for (extensions, reason) in table {
            #expect(try TestVerifier.simulated().reason(Self.receipt(extensions: extensions)) == reason)
        }
    }

    @Test func whatNamesItselfIsForged() throws {
        let receipt = try Self.receipt(subject: DistinguishedName(Self.apple))
        #expect(try TestVerifier.simulated().reason(receipt) == .selfSigned)
    }

    /// A receipt of another product or app is no more yours for its missing authority.
    @Test func whatIsNotYoursIsSaidAtOnce() throws {
        let receipt = try Self.receipt()
        let table: [(Expected, Reason)] = [
            (Expected(bundleID: BundleID(checked: "com.example.other"), refusesEarly: true), .foreignBundleID),
            (Expected(product: ProductID(checked: "com.example.other"), refusesEarly: true), .otherProduct),
            (Expected(bundleID: TestAuthority.bundleID, refusesEarly: true), .intermediateMissing),
        ]
        for (expecting, reason) in table {
            #expect(try TestVerifier.simulated().examine(receipt, expecting: expecting).reason == reason)
        }
    }
}
