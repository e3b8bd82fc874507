import AppleFormats
import Crypto
import Encoding
import PurchaseModel
import Simulator
import TestSupport
import Testing
import Verification

/// Before a chain is known to be Apple's, a key is whatever the sender made: none may cost more than Apple's do.
@Suite struct HostileKeyTests {
    /// An RSA key with any modulus and exponent, as SubjectPublicKeyInfo.
    private static func rsa(bits: Int, exponent: [UInt8]) throws -> PublicKey {
        var modulus = [UInt8](repeating: 0xC5, count: bits / 8)
        modulus[modulus.count - 1] |= 1
        let key = DERWriter.encode { writer in
            writer.sequence { writer in
                writer.primitive(.integer, [0] + modulus)
                writer.primitive(.integer, exponent)
            }
        }
        return try PublicKey(
            der: DERWriter.encode { writer in
                writer.sequence { writer in
                    writer.sequence { writer in
                        writer.objectID(.rsaEncryption)
                        writer.null()
                    }
                    writer.primitive(.bitString, [0] + key)
                }
            }
        )
    }

    private static let table: [(bits: Int, exponentBytes: Int, isTaken: Bool)] = [
        (1_024, 3, true), (2_048, 1, true), (2_048, 3, true), (2_048, 5, true), (4_096, 3, true),
        (2_048, 32, false), (2_048, 255, false), (1_024, 127, false), (4_096, 64, false), (8_192, 3, false),
        (16_384, 3, false),
    ]

    @Test(arguments: table)
    func aKeyThatCostsTooMuchIsOfNoKindThatSigns(bits: Int, exponentBytes: Int, isTaken: Bool) throws {
        let exponent = [1] + [UInt8](repeating: 0, count: max(0, exponentBytes - 2)) + [1]
        let key = try Self.rsa(bits: bits, exponent: exponentBytes == 1 ? [3] : exponent)
        #expect(key.kind == (isTaken ? .rsa(bits: bits) : .other))
        let signature = [UInt8](repeating: 1, count: bits / 8)
        #expect(!key.isValidRSA(signature: signature, message: [1], digest: .sha256))
    }

    /// An iOS 6 receipt's signature is checked by the certificate that it brings, before anybody vouches for that.
    @Test func anOldReceiptWithSuchAKeyIsRefused() throws {
        let key = try Self.rsa(bits: 2_048, exponent: [0x7F] + [UInt8](repeating: 0xFF, count: 254))
        let issuer = try TestAuthority.shared.identity(.sha256Intermediate)
        let certificate = try IssuedCertificate(
            subject: DistinguishedName(commonName: "Simulated Signer"),
            issuer: issuer,
            key: key,
            extensions: [.basicConstraints(isCA: false)]
        ).certificate
        let receipt = PlistReceipt.encode(
            version: 4,
            signature: [UInt8](repeating: 1, count: 256),
            certificate: certificate.der,
            info: OldPlist.encode(OldReceiptSigner.purchaseInfo(Sample.transaction(), of: TestAuthority.app())),
            unsigned: []
        )
        #expect(try TestVerifier.simulated().reason(receipt) == .signature)
    }

    /// A certificate that vouches for itself is asked whether it signed itself, with its own key.
    @Test func aSelfSignedReceiptWithSuchAKeyIsRefused() throws {
        let key = try Self.rsa(bits: 8_192, exponent: [1, 0, 1])
        let name = DistinguishedName(commonName: "StoreKit")
        let issuer = CertificateIssuer(name: name, key: try PrivateKey(generate: .rsa2048), digest: .sha256)
        let certificate = try issuer.issue(
            CertificateIssuer.Request(
                subject: name,
                publicKey: key,
                serial: [1],
                notBefore: 0,
                notAfter: Sample.moment.milliseconds * 2,
                extensions: []
            )
        )
        var receipt = try ReencodedReceipt(ProofKind.receiptSHA256.sharedProof())
        receipt.certificates = [certificate.der]
        receipt.issuer = certificate.fields.issuerDER
        receipt.serial = certificate.fields.serial
        #expect(try TestVerifier.simulated().reason(receipt.encoded) == .keyType)
    }

    /// A P-256 point on a chain that is right but for a key of another curve, and the other way round.
    @Test func aTokensKeyIsOfOneCurve() throws {
        let key = try PrivateKey(generate: .p384)
        let certificate = try IssuedCertificate(
            subject: "StoreKit Testing in Xcode",
            issuer: nil,
            key: key,
            digest: .sha384,
            extensions: []
        ).certificate
        let chain = SigningChain(key: key, signer: certificate, certificates: [certificate.der])
        let token = try JWSSigner(chain, isXcode: true).sign(Sample.payload(.xcode))
        #expect(try TestVerifier.simulated().reason(token) == .keyType)
    }

    /// OpenSSL would believe a certificate that was signed over MD5.
    @Test func aCertificateIsSignedByAnAlgorithmOfApples() throws {
        let chain = try TestAuthority.shared.chain(.jws)
        let intermediate = try TestAuthority.shared.identity(.jwsIntermediate)
        let key = try PrivateKey(generate: .p256)
        let marker = CertificateExtension(oid: "1.2.840.113635.100.6.11.1", isCritical: false, value: [5, 0])
        let table: [(Digest, Reason)] = [(.sha1, .algorithmNotAllowed), (.sha256, .addedRoot), (.sha384, .addedRoot)]
        for (digest, reason) in table {
            let leaf = try IssuedCertificate(
                subject: "Simulated Signer",
                issuer: intermediate,
                key: key,
                digest: digest,
                extensions: [.basicConstraints(isCA: false), .keyUsage(.digitalSignature), marker]
            ).certificate
            let other = SigningChain(key: key, signer: leaf, certificates: [leaf.der] + chain.certificates.dropFirst())
            #expect(try TestVerifier.fresh().reason(JWSSigner(other).sign(Sample.payload())) == reason)
        }
    }

    /// Rules of a single certificate that the table of flaws does not know.
    @Test func aLeafMayNotBeAnAuthority() throws {
        let marker = CertificateExtension(oid: "1.2.840.113635.100.6.11.1", isCritical: false, value: [5, 0])
        let chain = try TestAuthority.shared.chain(.jws)
        let intermediate = try TestAuthority.shared.identity(.jwsIntermediate)
        let key = try PrivateKey(generate: .p256)
        let leaf = try IssuedCertificate(
            subject: "Simulated Signer",
            issuer: intermediate,
            key: key,
            digest: .sha384,
            extensions: [.basicConstraints(isCA: true), .keyUsage([.digitalSignature, .certificateSigning]), marker]
        ).certificate
        let other = SigningChain(key: key, signer: leaf, certificates: [leaf.der] + chain.certificates.dropFirst())
        #expect(try TestVerifier.fresh().reason(JWSSigner(other).sign(Sample.payload())) == .leafIsCA)
    }
}
