import Crypto
import Encoding
package import PurchaseModel

/// What a signed request of an app is for: the `aud` of its JWS.
package enum SignedRequestKind: String, Hashable, Sendable, CaseIterable {
    case promotionalOffer = "promotional-offer"
    case introductoryOffer = "introductory-offer-eligibility"
    case advancedCommerce = "advanced-commerce-api"
}

// Requests that an app hands to StoreKit as a JWS. Source: Apple, *Generating JWS to sign App Store requests*.
extension MerchantSigner {
    /// A promotional offer in its newer form.
    ///
    /// - Parameters:
    ///   - offer: its identifier in App Store Connect.
    ///   - product: whose offer it is.
    ///   - transaction: any of the customer's, an app transaction too; recommended by Apple.
    ///   - nonce: a new one for each signature.
    ///   - now: when it is made.
    /// - Returns: a JWS.
    /// - Throws: ``SigningFailure``.
    package func promotionalOffer(
        _ offer: String,
        of product: ProductID,
        transaction: TransactionID?,
        nonce: MerchantNonce,
        at now: Timestamp
    ) throws(SigningFailure) -> String {
        try MerchantSigner.check(offer, "offer_id")
        return try signed(.promotionalOffer, nonce, now) { claims in
            claims.member("productId", product.text)
            claims.member("offerIdentifier", offer)
            claims.member("transactionId", transaction?.description)
        }
    }

    /// Whether a customer may have an introductory offer, whatever Apple thinks.
    ///
    /// - Parameters:
    ///   - product: whose offer it is.
    ///   - isAllowed: the merchant's decision.
    ///   - transaction: any of the customer's; required.
    ///   - nonce: a new one for each signature.
    ///   - now: when it is made.
    /// - Returns: a JWS.
    /// - Throws: ``SigningFailure``.
    package func introductoryOffer(
        of product: ProductID,
        isAllowed: Bool,
        transaction: TransactionID,
        nonce: MerchantNonce,
        at now: Timestamp
    ) throws(SigningFailure) -> String {
        try signed(.introductoryOffer, nonce, now) { claims in
            claims.member("productId", product.text)
            claims.member("allowIntroductoryOffer", isAllowed)
            claims.member("transactionId", transaction.description)
        }
    }

    /// A request of the Advanced Commerce API that the app sends through StoreKit.
    ///
    /// - Parameters:
    ///   - request: its JSON; signed byte for byte.
    ///   - nonce: a new one for each signature.
    ///   - now: when it is made.
    /// - Returns: a JWS.
    /// - Throws: ``SigningFailure`` for what is no JSON object.
    package func advancedCommerce(
        request: [UInt8],
        nonce: MerchantNonce,
        at now: Timestamp
    ) throws(SigningFailure) -> String {
        guard (try? JSONDocument(request))?.root.object != nil else { throw .invalidField("request") }
        let text = String(decoding: Base64.encode(request, .standard, isPadded: true), as: UTF8.self)
        return try signed(.advancedCommerce, nonce, now) { claims in claims.member("request", text) }
    }

    private func signed(
        _ kind: SignedRequestKind,
        _ nonce: MerchantNonce,
        _ now: Timestamp,
        _ more: (inout JSONObjectWriter) -> Void
    ) throws(SigningFailure) -> String {
        let claims = JSONWriter.object { claims in
            claims.member("iss", key.issuerID)
            claims.member("bid", bundleID.text)
            claims.member("aud", kind.rawValue)
            claims.member("iat", now.milliseconds / 1_000)
            claims.member("nonce", nonce.description)
            more(&claims)
        }
        do throws(CryptoError) {
            return try MerchantJWS.sign(claims, by: key)
        } catch {
            throw .notConfigured
        }
    }
}
