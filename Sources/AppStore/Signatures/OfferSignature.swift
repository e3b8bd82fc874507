import Crypto
import Encoding
package import PurchaseModel

/// The signature of a promotional offer in its older form, for StoreKit 1 and `Product.PurchaseOption.promotionalOffer`.
///
/// What is signed are seven fields between invisible separators; the signature is ECDSA on P-256 over SHA-256, in DER, in
/// base64. Source: Apple, *Generating a signature for promotional offers*.
package struct OfferSignature: Hashable, Sendable {
    /// What the app gives to StoreKit.
    package let keyID: String
    package let nonce: MerchantNonce
    /// Milliseconds since 1970. It counts for 24 hours.
    package let timestamp: Int64
    /// Base64.
    package let signature: String

    /// U+2063 INVISIBLE SEPARATOR.
    static let separator = "\u{2063}"

    /// The fields in Apple's order; the account's stays in its place when it is empty.
    static func message(_ fields: [String]) -> [UInt8] { Array(fields.joined(separator: separator).utf8) }
}

/// Why nothing is signed.
package enum SigningFailure: Error, Hashable, Sendable {
    case notConfigured
    /// A field that is empty, or holds what would end it early.
    case invalidField(String)
}

/// Signs in the merchant's name what an app needs for an offer or a request. Nothing is sent.
package struct MerchantSigner: Sendable {
    let bundleID: BundleID
    let key: ServerAPIKey

    /// - Throws: ``SigningFailure`` for an app without a key.
    package init(_ app: AppCredentials) throws(SigningFailure) {
        guard let key = app.key else { throw .notConfigured }
        bundleID = app.bundleID
        self.key = key
    }

    /// The older form of a promotional offer.
    ///
    /// - Parameters:
    ///   - offer: its identifier in App Store Connect.
    ///   - product: whose offer it is.
    ///   - account: what the app gives StoreKit as `appAccountToken` or `applicationUsername`; empty when nothing.
    ///   - nonce: a new one for each signature.
    ///   - now: it counts from here for 24 hours.
    /// - Returns: what the app gives to StoreKit.
    /// - Throws: ``SigningFailure``.
    package func promotionalOffer(
        _ offer: String,
        of product: ProductID,
        account: String,
        nonce: MerchantNonce,
        at now: Timestamp
    ) throws(SigningFailure) -> OfferSignature {
        try MerchantSigner.check(offer, "offer_id")
        if !account.isEmpty { try MerchantSigner.check(account, "account") }
        let message = OfferSignature.message([
            bundleID.text, key.keyID, product.text, offer, account.lowercased(), nonce.description,
            String(now.milliseconds),
        ])
        do throws(CryptoError) {
            let der = try key.privateKey.sign(message, digest: .sha256)
            return OfferSignature(
                keyID: key.keyID,
                nonce: nonce,
                timestamp: now.milliseconds,
                signature: String(decoding: Base64.encode(der, .standard, isPadded: true), as: UTF8.self)
            )
        } catch {
            throw .notConfigured
        }
    }

    static func check(_ text: String, _ field: String) throws(SigningFailure) {
        guard (1...512).contains(text.utf8.count), !text.contains(OfferSignature.separator) else {
            throw .invalidField(field)
        }
    }
}
