package import Crypto
package import PurchaseModel

/// Signs everything that Apple signs about purchases, in the name of one app: the plain way for who wants it right.
///
/// For what is to be wrong see ``JWSSigner``, ``ReceiptSigner``, ``OldReceiptSigner`` and ``ChainFlaw``.
package struct PurchaseSigner: Sendable {
    package let authority: SimulatorAuthority
    package var app: SimulatedApp

    package init(_ authority: SimulatorAuthority, app: SimulatedApp) {
        self.authority = authority
        self.app = app
    }

    /// StoreKit 2's fact about one transaction. For an app in Xcode it is signed as Xcode signs.
    package func transaction(_ transaction: Transaction) throws(CryptoError) -> String {
        try sign(.transaction(transaction, of: app))
    }

    package func renewal(_ renewal: Renewal) throws(CryptoError) -> String {
        try sign(.renewal(renewal, of: app))
    }

    package func appTransaction(_ download: AppDownload) throws(CryptoError) -> String {
        try sign(.appTransaction(download, of: app))
    }

    /// The `signedPayload` of a server notification; the facts in it are signed each by itself.
    package func notification(_ notice: Notice) throws(CryptoError) -> String {
        let transaction = try signed(notice.transaction) { transaction throws(CryptoError) in
            try self.transaction(transaction)
        }
        let renewal = try signed(notice.renewal) { renewal throws(CryptoError) in try self.renewal(renewal) }
        return try sign(.notification(notice, of: app, transaction: transaction, renewal: renewal))
    }

    /// The body that Apple posts to a shop's server: `{"signedPayload":"…"}`.
    package func notificationBody(_ notice: Notice) throws(CryptoError) -> [UInt8] {
        var body = Payload()
        body["signedPayload"] = .text(try notification(notice))
        return body.json
    }

    package func sign(_ payload: Payload) throws(CryptoError) -> String {
        guard isXcode else { return try JWSSigner(authority.chain(.jws)).sign(payload) }
        return try JWSSigner(authority.xcodeChain(.xcodeJWS), isXcode: true).sign(payload.inXcodeStyle())
    }

    /// An app receipt; `digest` is `sha1` for those until 2024. For an app in Xcode it is signed as Xcode signs.
    package func receipt(
        _ purchases: [Transaction],
        createdAt: Timestamp,
        digest: Digest = .sha256
    ) throws(CryptoError) -> [UInt8] {
        let receipt = SimulatedReceipt(app: app, createdAt: createdAt, purchases: purchases)
        if isXcode {
            return try ReceiptSigner(authority.xcodeChain(.xcodeReceipt), digest: .sha256).signAsXcode(receipt)
        }
        let chain = try authority.chain(digest == .sha1 ? .receiptSHA1 : .receiptSHA256)
        return try ReceiptSigner(chain, digest: digest).sign(receipt)
    }

    /// An iOS 6 transaction receipt.
    package func oldReceipt(
        _ purchase: Transaction,
        version: OldReceiptSigner.Version = .two
    ) throws(CryptoError) -> [UInt8] {
        try OldReceiptSigner(authority.chain(version.family), version: version).sign(purchase, of: app)
    }

    private var isXcode: Bool { app.environment == .xcode || app.environment == .localTesting }

    private func signed<Value>(
        _ value: Value?,
        _ sign: (Value) throws(CryptoError) -> String
    ) throws(CryptoError) -> String? {
        guard let value else { return nil }
        return try sign(value)
    }
}
