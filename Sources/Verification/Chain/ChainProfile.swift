import Crypto

/// What a chain must look like for one family of proofs: the marker extensions that Apple puts on certificates for
/// this one purpose, and the keys. Without the markers any developer's certificate would do.
struct ChainProfile: Hashable, Sendable {
    let name: String
    let leafMarker: String
    let intermediateMarker: String
    let keys: Keys

    enum Keys: Hashable, Sendable {
        /// P-256 leaf under P-256 or P-384 authorities.
        case ellipticCurve
        /// RSA: the leaf of at least so many bits, its authorities of 2048.
        case rsa(leafBitsMin: Int)
    }

    /// How the certificates may be signed, as dotted OIDs: with the SHA-2 family, and receipts, until 2024, with SHA-1.
    var signatureAlgorithms: Set<String> {
        switch keys {
        case .ellipticCurve: ChainProfile.ecdsa
        case .rsa: ChainProfile.rsa
        }
    }

    /// RFC 5758 § 3.2: with SHA-256, SHA-384, SHA-512.
    private static let ecdsa: Set<String> = ["1.2.840.10045.4.3.2", "1.2.840.10045.4.3.3", "1.2.840.10045.4.3.4"]
    /// RFC 8017 § A.2.4: with SHA-1, SHA-256, SHA-384, SHA-512.
    private static let rsa: Set<String> = [
        "1.2.840.113549.1.1.5", "1.2.840.113549.1.1.11", "1.2.840.113549.1.1.12", "1.2.840.113549.1.1.13",
    ]

    /// StoreKit 2 and everything else that is a JWS.
    static let jws = ChainProfile(
        name: "jws",
        leafMarker: receiptSigning,
        intermediateMarker: developerRelations,
        keys: .ellipticCurve
    )
    /// App receipts, and the iOS 6 receipts of signature versions 3 and 4.
    static let receipt = ChainProfile(
        name: "receipt",
        leafMarker: receiptSigning,
        intermediateMarker: developerRelations,
        keys: .rsa(leafBitsMin: 2_048)
    )
    /// iOS 6 receipts of signature version 2.
    static let oldReceipt = ChainProfile(
        name: "old_receipt",
        leafMarker: purchaseReceiptSigning,
        intermediateMarker: itunesStore,
        keys: .rsa(leafBitsMin: 1_024)
    )

    /// Mac App Store and iTunes Store receipt signing, on the leaf.
    private static let receiptSigning = "1.2.840.113635.100.6.11.1"
    /// In-app purchase receipt signing of iOS 6, on the leaf.
    private static let purchaseReceiptSigning = "1.2.840.113635.100.6.5.1"
    /// Worldwide Developer Relations, on the intermediate.
    private static let developerRelations = "1.2.840.113635.100.6.2.1"
    /// The iTunes Store's own authority, on the intermediate of iOS 6 receipts.
    private static let itunesStore = "1.2.840.113635.100.6.2.2"
}
