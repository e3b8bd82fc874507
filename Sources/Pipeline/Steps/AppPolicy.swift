package import PurchaseModel

/// What one app accepts: the visible step after verification, never a condition of it.
package struct AppPolicy: Hashable, Sendable {
    package let id: AppID
    package let bundleID: BundleID
    /// The app's number in the App Store, compared where Production signs it.
    package let appleID: Int64?
    package let environments: Set<StoreEnvironment>
    /// The catalogue; `nil` accepts any product of the app.
    package let products: Set<ProductID>?
    /// Whether what only a test authority signed is recorded: behind a wall of its own, see `Realm`.
    package let acceptsTestSigned: Bool

    package init(
        id: AppID,
        bundleID: BundleID,
        appleID: Int64? = nil,
        environments: Set<StoreEnvironment> = [.production],
        products: Set<ProductID>? = nil,
        acceptsTestSigned: Bool = false
    ) {
        self.id = id
        self.bundleID = bundleID
        self.appleID = appleID
        self.environments = environments
        self.products = products
        self.acceptsTestSigned = acceptsTestSigned
    }
}
