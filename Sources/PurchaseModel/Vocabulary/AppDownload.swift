/// That an account got the app itself: what an AppTransaction or an app receipt says beside purchases.
package struct AppDownload: Hashable, Sendable {
    package var bundleID: BundleID
    package var environment: StoreEnvironment?
    package var appleID: Int64?
    package var version: String?
    package var originalVersion: String?
    package var originallyPurchasedAt: Timestamp?
    package var preorderedAt: Timestamp?
    package var appTransaction: String?
    // What app receipts alone say.
    /// In Apple's words, such as `ProductionVPP`.
    package var receiptKind: String?
    package var downloadID: Int64?
    /// The App Store's number of this build.
    package var buildID: Int64?
    /// When a volume purchase ends.
    package var expiresAt: Timestamp?
    package var signedAt: Timestamp

    package init(bundleID: BundleID, signedAt: Timestamp) {
        self.bundleID = bundleID
        self.signedAt = signedAt
    }
}
