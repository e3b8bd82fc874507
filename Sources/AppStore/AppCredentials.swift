package import Crypto
package import PurchaseModel

/// What an app needs to ask Apple about its purchases.
package struct AppCredentials: Sendable {
    package var bundleID: BundleID
    /// The app's number in the App Store; compared where Production tells it.
    package var appleID: Int64?
    /// For verifyReceipt, where there are auto-renewable subscriptions: 32 hexadecimal digits.
    package var sharedSecret: String?
    /// For the Server API.
    package var key: ServerAPIKey?

    package init(
        bundleID: BundleID,
        appleID: Int64? = nil,
        sharedSecret: String? = nil,
        key: ServerAPIKey? = nil
    ) {
        self.bundleID = bundleID
        self.appleID = appleID
        self.sharedSecret = sharedSecret
        self.key = key
    }
}

/// An In-App Purchase key of App Store Connect. A key of the App Store Connect API is another kind, and gets 401.
package struct ServerAPIKey: Sendable {
    /// A UUID.
    package let issuerID: String
    /// Ten letters and digits.
    package let keyID: String
    package let privateKey: PrivateKey

    /// - Parameters:
    ///   - issuerID: of the team, as App Store Connect shows it.
    ///   - keyID: of the key.
    ///   - pem: the text of the `.p8` file.
    /// - Throws: for a text that is no key, or one on another curve than P-256.
    package init(issuerID: String, keyID: String, pem: [UInt8]) throws(CryptoError) {
        self.issuerID = issuerID
        self.keyID = keyID
        privateKey = try PrivateKey(pem: pem)
        guard privateKey.publicKey.kind == .p256 else { throw .unsupported("the key is not on P-256") }
    }

    /// What is wrong with a text that ``init(issuerID:keyID:pem:)`` refuses, for whoever gave it.
    package static func sentence(_ refusal: CryptoError) -> String {
        switch refusal {
        case .malformed, .failed: "it is no private key in PEM without a password, as Apple's .p8 files are"
        case .unsupported: "the key is not on P-256, as Apple's are"
        }
    }
}
