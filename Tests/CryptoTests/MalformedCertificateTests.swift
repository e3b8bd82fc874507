import Crypto
import TestSupport
import Testing

@Suite struct MalformedCertificateTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        var name: String
        var certificate: Certificate
        var issuer: PublicKey
        var testDescription: String { name }
    }

    private static func sample(_ name: String, _ algorithm: PrivateKey.Algorithm, _ digest: Digest) throws -> Sample {
        let key = try PrivateKey(generate: algorithm)
        let issuerKey = try PrivateKey(generate: algorithm)
        let issuer = CertificateIssuer(
            name: DistinguishedName(commonName: "Issuer", country: "US"),
            key: issuerKey,
            digest: digest
        )
        let certificate = try issuer.issue(
            CertificateIssuer.Request(
                subject: DistinguishedName(commonName: "Leaf", organization: "Org"),
                publicKey: key.publicKey,
                serial: [1, 2, 3],
                notBefore: 1_700_000_000_000,
                notAfter: 1_800_000_000_000,
                extensions: [
                    .basicConstraints(isCA: false), .keyUsage(.digitalSignature),
                    .subjectKeyIdentifier(key.publicKey), .authorityKeyIdentifier(issuerKey.publicKey),
                    try .extendedKeyUsage(["1.3.6.1.5.5.7.3.3"]),
                    CertificateExtension(oid: "1.2.840.113635.100.6.11.1", isCritical: false, value: [5, 0]),
                ]
            )
        )
        return Sample(name: name, certificate: certificate, issuer: issuerKey.publicKey)
    }

    private static let samples: [Sample] = {
        do {
            return [try sample("P-256", .p256, .sha256), try sample("RSA-1024", .rsa1024, .sha1)]
        } catch {
            preconditionFailure("no samples: \(error)")
        }
    }()

    @Test(arguments: samples)
    func noBeginningIsACertificate(sample: Sample) {
        #expect(sample.certificate.isSigned(by: sample.issuer))
        for length in 0..<sample.certificate.der.count {
            #expect(throws: CryptoError.self) { try Certificate(der: Array(sample.certificate.der.prefix(length))) }
        }
    }

    @Test(arguments: samples)
    func nothingMayFollow(sample: Sample) {
        for rest in [[0], [0, 0], [0x30], sample.certificate.der] as [[UInt8]] {
            #expect(throws: CryptoError.self) { try Certificate(der: sample.certificate.der + rest) }
        }
        #expect(throws: CryptoError.self) { try Certificate(der: [0] + sample.certificate.der) }
    }

    @Test(arguments: samples)
    func aChangedByteIsRefusedOrNotSigned(sample: Sample) {
        for index in sample.certificate.der.indices {
            for mask in [0x01, 0x20, 0x80, 0xFF] as [UInt8] {
                var der = sample.certificate.der
                der[index] ^= mask
                guard let certificate = try? Certificate(der: der) else { continue }
                #expect(!certificate.isSigned(by: sample.issuer), "byte \(index) ^ \(mask)")
            }
        }
    }

    @Test(arguments: UInt64(0)..<300)
    func anyChangesAreSurvived(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var der = Self.samples[Int(seed % 2)].certificate.der
        for _ in 0..<Int.random(in: 1...20, using: &random) {
            let index = Int.random(in: der.indices, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: der[index] = UInt8(truncatingIfNeeded: random.next())
            case 1: der.remove(at: index)
            default: der.insert(UInt8(truncatingIfNeeded: random.next()), at: index)
            }
        }
        if let certificate = try? Certificate(der: der) { #expect(certificate.der == der) }
    }

    @Test(arguments: UInt64(0)..<100)
    func noiseIsRefused(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let noise = random.bytes(Int.random(in: 0...300, using: &random))
        #expect(throws: CryptoError.self) { try Certificate(der: noise) }
        #expect(throws: CryptoError.self) { try PublicKey(der: noise) }
        #expect(throws: CryptoError.self) { try PrivateKey(pem: noise) }
    }

    @Test func indefiniteLengthIsNotDER() {
        let der = Self.samples[0].certificate.der
        // The outer SEQUENCE has a length of two bytes.
        #expect(der[1] == 0x82)
        #expect(throws: CryptoError.self) { try Certificate(der: [0x30, 0x80] + der[4...] + [0, 0]) }
        #expect(throws: CryptoError.self) { try Certificate(der: [0x30, 0x83, 0x00] + der[2...]) }
    }

    @Test(
        arguments: [
            ("an extension twice", [.keyUsage(.digitalSignature), .keyUsage(.digitalSignature)]),
            (
                "an unknown extension twice",
                [
                    CertificateExtension(oid: "2.999.1", isCritical: false, value: [5, 0]),
                    CertificateExtension(oid: "2.999.1", isCritical: false, value: [5, 0]),
                ]
            ),
            (
                "basic constraints that are none",
                [CertificateExtension(oid: "2.5.29.19", isCritical: true, value: [5, 0])]
            ),
            ("a key usage that is none", [CertificateExtension(oid: "2.5.29.15", isCritical: true, value: [0x30, 0])]),
            ("a key usage cut short", [CertificateExtension(oid: "2.5.29.37", isCritical: false, value: [0x30, 5])]),
        ] as [(String, [CertificateExtension])]
    )
    func extensionsThatCannotBeReadAreRefused(name: String, extensions: [CertificateExtension]) throws {
        let key = try PrivateKey(generate: .p256)
        let issuer = CertificateIssuer(name: DistinguishedName(commonName: "A"), key: key, digest: .sha256)
        let der = try issuer.issueDER(
            CertificateIssuer.Request(
                subject: DistinguishedName(commonName: "B"),
                publicKey: key.publicKey,
                serial: [1],
                notBefore: 0,
                notAfter: 1_000,
                extensions: extensions
            )
        )
        #expect(throws: CryptoError.self) { try Certificate(der: der) }
    }
}
