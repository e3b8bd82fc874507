import Crypto
import PurchaseModel
import Simulator
import TestSupport

/// Signs iOS 6 receipts as the authority does that Apple has for them: by its name, and under the simulator's root. Its
/// certificate is in no receipt, so a server has it or must wait for it.
struct StoreAuthority {
    let certificate: Certificate
    private let leaf: SigningChain

    /// One for all tests: keys take their time.
    static let one = Result { try StoreAuthority() }

    private init() throws {
        let root = try TestAuthority.shared.identity(.receiptRoot)
        let key = try PrivateKey(generate: .rsa2048)
        let name = DistinguishedName(
            commonName: "Apple iTunes Store Certification Authority",
            organization: "Apple Inc."
        )
        certificate = try Self.issue(
            name,
            key.publicKey,
            by: CertificateIssuer(name: Self.rootName, key: root.key, digest: .sha1),
            [
                .basicConstraints(isCA: true, pathLength: 0), .keyUsage([.certificateSigning, .revocationListSigning]),
                CertificateExtension(oid: "1.2.840.113635.100.6.2.2", isCritical: false, value: [5, 0]),
            ]
        )
        let leafKey = try PrivateKey(generate: .rsa1024)
        let signer = try Self.issue(
            DistinguishedName(commonName: "Simulated PurchaseReceiptCertificate"),
            leafKey.publicKey,
            by: CertificateIssuer(name: name, key: key, digest: .sha1),
            [
                .basicConstraints(isCA: false), .keyUsage(.digitalSignature),
                CertificateExtension(oid: "1.2.840.113635.100.6.5.1", isCritical: false, value: [5, 0]),
            ]
        )
        leaf = SigningChain(key: leafKey, signer: signer, certificates: [signer.der])
    }

    func receipt(_ purchase: Transaction) throws -> [UInt8] {
        try OldReceiptSigner(leaf, version: .two).sign(purchase, of: TestAuthority.app())
    }

    private static func issue(
        _ subject: DistinguishedName,
        _ key: PublicKey,
        by issuer: CertificateIssuer,
        _ extensions: [CertificateExtension]
    ) throws -> Certificate {
        let day: Int64 = 86_400_000
        return try issuer.issue(
            CertificateIssuer.Request(
                subject: subject,
                publicKey: key,
                serial: [0x41],
                notBefore: PipelineHouse.now.milliseconds - 1_000 * day,
                notAfter: PipelineHouse.now.milliseconds + 1_000 * day,
                extensions: extensions
            )
        )
    }

    /// What the simulator's root is called.
    private static let rootName = DistinguishedName(
        commonName: "Simulated Root CA",
        organizationalUnit: "Simulated Certification Authority",
        organization: "Simulated App Store",
        country: "US"
    )
}
