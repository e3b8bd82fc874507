import Crypto
import TestSupport
import Testing

@Suite struct CertificateTests {
    private static let day: Int64 = 86_400_000
    private static let start: Int64 = 1_700_000_000_000

    private static func request(
        _ key: PrivateKey,
        serial: [UInt8] = [0x12, 0x34],
        subject: DistinguishedName = DistinguishedName(
            commonName: "Leaf, \"quoted\"\nline",
            organizationalUnit: "Unit",
            organization: "Org",
            country: "US"
        ),
        extensions: [CertificateExtension]
    ) -> CertificateIssuer.Request {
        CertificateIssuer.Request(
            subject: subject,
            publicKey: key.publicKey,
            serial: serial,
            notBefore: start,
            notAfter: start + 365 * day,
            extensions: extensions
        )
    }

    @Test func whatIsIssuedIsReadBack() throws {
        let issuerKey = try PrivateKey(generate: .p384)
        let key = try PrivateKey(generate: .p256)
        let issuer = CertificateIssuer(
            name: DistinguishedName(commonName: "Issuer", country: "US"),
            key: issuerKey,
            digest: .sha384
        )
        let certificate = try issuer.issue(
            Self.request(
                key,
                serial: [0x00, 0xEE, 0x01],
                extensions: [
                    .basicConstraints(isCA: true, pathLength: 3),
                    .keyUsage([.certificateSigning, .revocationListSigning]),
                    .subjectKeyIdentifier(key.publicKey),
                    .authorityKeyIdentifier(issuerKey.publicKey),
                    try .extendedKeyUsage(["1.3.6.1.5.5.7.3.3"]),
                    try .policies(["1.2.840.113635.100.5.6.1"]),
                    CertificateExtension(oid: "1.2.840.113635.100.6.11.1", isCritical: false, value: [5, 0]),
                ]
            )
        )
        let fields = certificate.fields
        #expect(fields.subject == #"C=US,O=Org,OU=Unit,CN=Leaf\, \"quoted\"\0Aline"#)
        #expect(fields.issuer == "C=US,CN=Issuer")
        #expect(fields.serial == [0x00, 0xEE, 0x01])
        #expect(certificate.serialText == "00ee01")
        #expect(fields.notBefore == Self.start)
        #expect(fields.notAfter == Self.start + 365 * Self.day)
        #expect(fields.isCA)
        #expect(fields.pathLength == 3)
        #expect(fields.keyUsage == [.certificateSigning, .revocationListSigning])
        #expect(fields.subjectKeyID == key.publicKey.identifier)
        #expect(fields.authorityKeyID == issuerKey.publicKey.identifier)
        #expect(fields.signatureAlgorithm == "1.2.840.10045.4.3.3")
        #expect(
            fields.extensions.map(\.oid) == [
                "2.5.29.19", "2.5.29.15", "2.5.29.14", "2.5.29.35", "2.5.29.37", "2.5.29.32",
                "1.2.840.113635.100.6.11.1",
            ]
        )
        #expect(fields.extensions.map(\.isCritical) == [true, true, false, false, false, false, false])
        #expect(fields.extensions.last?.value == [5, 0])
        #expect(certificate.hasExtension("1.2.840.113635.100.6.11.1"))
        #expect(!certificate.hasExtension("1.2.840.113635.100.6.11"))
        #expect(certificate.publicKey == key.publicKey)
        #expect(certificate.publicKey.kind == .p256)
        #expect(certificate.sha256 == Digest.sha256(certificate.der))
        #expect(certificate.isSigned(by: issuerKey.publicKey))
        #expect(!certificate.isSigned(by: key.publicKey))
    }

    @Test func whatACertificateDoesNotSayIsNotMadeUp() throws {
        let key = try PrivateKey(generate: .p256)
        let issuer = CertificateIssuer(name: DistinguishedName(commonName: "A"), key: key, digest: .sha256)
        let certificate = try issuer.issue(Self.request(key, extensions: []))
        #expect(certificate.fields.keyUsage == nil)
        #expect(certificate.fields.subjectKeyID == nil)
        #expect(certificate.fields.authorityKeyID == nil)
        #expect(!certificate.fields.isCA)
        #expect(certificate.fields.pathLength == nil)
    }

    /// RFC 5280 § 4.1.2.5: two-digit years until 2049, four digits from 2050 on.
    @Test(
        arguments: [
            (-86_400_000, 0), (0, 2_524_607_999_000), (2_524_608_000_000, 4_102_444_800_000),
            (951_782_400_000, 253_402_300_799_000),
        ] as [(Int64, Int64)]
    )
    func datesAreReadAcrossTheirForms(notBefore: Int64, notAfter: Int64) throws {
        let key = try PrivateKey(generate: .p256)
        let issuer = CertificateIssuer(name: DistinguishedName(commonName: "A"), key: key, digest: .sha256)
        var request = Self.request(key, extensions: [])
        request.notBefore = notBefore
        request.notAfter = notAfter
        let fields = try issuer.issue(request).fields
        #expect(fields.notBefore == notBefore)
        #expect(fields.notAfter == notAfter)
    }

    /// OpenSSL sees the sign: what is not positive, or longer than 20 bytes, is shown as it stands.
    @Test(
        arguments: [
            ([0x01], [0x01]), ([0x7F], [0x7F]), ([0x80], [0x00, 0x80]), ([0x00, 0x00, 0x12], [0x12]),
            ([UInt8](repeating: 0xFF, count: 20), [0x00] + [UInt8](repeating: 0xFF, count: 20)), ([], [0x00]),
        ] as [([UInt8], [UInt8])]
    )
    func aSerialNumberIsTheIntegersContent(serial: [UInt8], content: [UInt8]) throws {
        let key = try PrivateKey(generate: .p256)
        let issuer = CertificateIssuer(name: DistinguishedName(commonName: "A"), key: key, digest: .sha256)
        #expect(try issuer.issue(Self.request(key, serial: serial, extensions: [])).fields.serial == content)
    }

    @Test func namesCannotSmuggleLines() throws {
        let key = try PrivateKey(generate: .p256)
        let issuer = CertificateIssuer(name: DistinguishedName(commonName: "A"), key: key, digest: .sha256)
        let name = DistinguishedName(commonName: "a\r\n\u{1B}[31m\u{0301}\u{202E}é,O=Apple Inc.")
        let subject = try issuer.issue(Self.request(key, subject: name, extensions: [])).fields.subject
        #expect(subject.utf8.allSatisfy { (0x20...0x7E).contains($0) })
        #expect(subject == #"CN=a\0D\0A\1B[31m\CC\81\E2\80\AE\C3\A9\,O=Apple Inc."#)
    }

    @Test func manyThreadsMayReadOneCertificate() async throws {
        let key = try PrivateKey(generate: .p256)
        let issuer = CertificateIssuer(name: DistinguishedName(commonName: "A"), key: key, digest: .sha256)
        let certificate = try issuer.issue(Self.request(key, extensions: [.keyUsage(.digitalSignature)]))
        let stranger = try PrivateKey(generate: .p256).publicKey
        let wrong = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<100).count { _ in
                        !certificate.isSigned(by: key.publicKey) || certificate.isSigned(by: stranger)
                            || (try? Certificate(der: certificate.der)) != certificate
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(wrong == 0)
    }
}
