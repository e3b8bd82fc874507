package import PurchaseModel

/// What one of Apple's limits is for: an app, a store, an endpoint.
package struct AppleLane: Hashable, Sendable {
    package let app: BundleID
    package let store: StoreEnvironment
    /// A stable word for counters: `verify_receipt`, `history`.
    package let endpoint: String
    /// Apple's limit for production, in requests a second; the sandbox has a tenth of it.
    package let perSecond: Int
    /// Whether it is asked by the app's key: verifyReceipt wants none, and says nothing of one.
    package let isByKey: Bool

    package init(app: BundleID, store: StoreEnvironment, endpoint: String, perSecond: Int, isByKey: Bool = true) {
        self.app = app
        self.store = store
        self.endpoint = endpoint
        self.perSecond = perSecond
        self.isByKey = isByKey
    }

    /// Whose key it is asked by, if it is by one.
    struct Owner: Hashable, Sendable {
        let app: BundleID
        let store: StoreEnvironment
    }

    var owner: Owner { Owner(app: app, store: store) }
}
