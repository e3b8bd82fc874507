package import AppStore
package import PurchaseModel

/// Signs in the merchant's name what one of its apps hands to StoreKit, and says what is wrong with what was signed
/// elsewhere. Nothing is sent to anybody.
package struct MerchantDesk: Sendable {
    /// A promotional offer in both forms: which one an app takes depends on its StoreKit.
    package struct SignedOffer: Hashable, Sendable {
        package let keyID: String
        /// A UUID in lower case, used for this one alone.
        package let nonce: String
        /// Milliseconds since 1970.
        package let timestamp: Int64
        /// Base64 of DER.
        package let signature: String
        package let jws: String
    }

    /// What is wrong with a signature: a stable word, and a sentence for who has to mend it.
    package struct Finding: Hashable, Sendable {
        package let code: String
        package let sentence: String
    }

    /// A field that cannot be signed.
    package struct Fault: Error, Hashable, Sendable {
        package let field: String
    }

    private let signer: MerchantSigner

    /// `nil` for an app without a key.
    package init?(_ credentials: AppCredentials) {
        guard let signer = try? MerchantSigner(credentials) else { return nil }
        self.signer = signer
    }

    /// - Parameters:
    ///   - offer: its identifier in App Store Connect.
    ///   - product: whose offer it is.
    ///   - account: what the app gives StoreKit as `appAccountToken` or `applicationUsername`; empty when nothing.
    ///   - transaction: any of the customer's, for the newer form.
    ///   - now: it counts from here for 24 hours.
    /// - Returns: both forms.
    /// - Throws: ``Fault``.
    package func promotionalOffer(
        _ offer: String,
        of product: ProductID,
        account: String,
        transaction: TransactionID?,
        at now: Timestamp
    ) throws(Fault) -> SignedOffer {
        do throws(SigningFailure) {
            let nonce = MerchantNonce.generated()
            let old = try signer.promotionalOffer(offer, of: product, account: account, nonce: nonce, at: now)
            let jws = try signer.promotionalOffer(
                offer,
                of: product,
                transaction: transaction,
                nonce: .generated(),
                at: now
            )
            return SignedOffer(
                keyID: old.keyID,
                nonce: nonce.description,
                timestamp: old.timestamp,
                signature: old.signature,
                jws: jws
            )
        } catch {
            throw Fault(error)
        }
    }

    /// Whether a customer may have an introductory offer, as a JWS.
    package func introductoryOffer(
        of product: ProductID,
        isAllowed: Bool,
        transaction: TransactionID,
        at now: Timestamp
    ) throws(Fault) -> String {
        do throws(SigningFailure) {
            return try signer.introductoryOffer(
                of: product,
                isAllowed: isAllowed,
                transaction: transaction,
                nonce: .generated(),
                at: now
            )
        } catch {
            throw Fault(error)
        }
    }

    /// A request of the Advanced Commerce API, signed byte for byte, as a JWS.
    package func advancedCommerce(request: [UInt8], at now: Timestamp) throws(Fault) -> String {
        do throws(SigningFailure) {
            return try signer.advancedCommerce(request: request, nonce: .generated(), at: now)
        } catch {
            throw Fault(error)
        }
    }

    /// Everything that is wrong with a JWS as it is handed to StoreKit; empty for a good one.
    package func explain(jws: String, at now: Timestamp) -> [Finding] {
        Self.findings(signer.explain(request: jws, at: now))
    }

    /// The same of the older form of an offer: its parts as an app hands them to StoreKit.
    package func explain(
        _ signature: String,
        keyID: String,
        product: String,
        offer: String,
        account: String,
        nonce: String,
        timestamp: Int64,
        at now: Timestamp
    ) -> [Finding] {
        let given = GivenOfferSignature(
            keyID: keyID,
            product: product,
            offer: offer,
            account: account,
            nonce: nonce,
            timestamp: timestamp,
            signature: signature
        )
        return Self.findings(signer.explain(given, at: now))
    }

    private static func findings(_ found: [SignatureFinding]) -> [Finding] {
        found.map { Finding(code: $0.rawValue, sentence: $0.sentence) }
    }
}

extension MerchantDesk.Fault {
    fileprivate init(_ failure: SigningFailure) {
        switch failure {
        case .invalidField(let field): self.init(field: field)
        case .notConfigured: self.init(field: "private_key")
        }
    }
}
