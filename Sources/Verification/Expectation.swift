package import PurchaseModel

/// What a proof is held against. What is `nil` is not checked, and the report says so.
package struct Expectation: Sendable {
    package var bundleID: BundleID?
    /// The app's number in the App Store; compared where Production signs it.
    package var appleID: Int64?
    package var environments: Set<StoreEnvironment>?
    /// The catalogue: at least one transaction must be for one of these.
    package var products: Set<ProductID>?
    /// The product that the proof was presented for: at least one transaction must be for it.
    package var product: ProductID?
    /// The device's identifier: 16 bytes (identifierForVendor) or 6 (a Mac's address), for app receipts.
    package var deviceID: [UInt8]?
    /// Judge certificates at this moment instead of the moment of signing.
    package var moment: Timestamp?
    /// Refuse what names another app, environment or product before any cryptography is spent on it.
    package var refusesEarly: Bool

    package init(
        bundleID: BundleID? = nil,
        appleID: Int64? = nil,
        environments: Set<StoreEnvironment>? = nil,
        products: Set<ProductID>? = nil,
        product: ProductID? = nil,
        deviceID: [UInt8]? = nil,
        moment: Timestamp? = nil,
        refusesEarly: Bool = false
    ) {
        self.bundleID = bundleID
        self.appleID = appleID
        self.environments = environments
        self.products = products
        self.product = product
        self.deviceID = deviceID
        self.moment = moment
        self.refusesEarly = refusesEarly
    }
}
