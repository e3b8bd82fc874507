package import PurchaseModel
import Verification

/// A proof of purchase as it came in, and what its sender says about it.
package struct Submission: Sendable {
    package let app: AppPolicy
    /// The proof in any format and wrapping, as received.
    package let bytes: [UInt8]
    package let customer: CustomerID
    package let order: OrderID?
    /// The product that is being paid; a proof without it is refused.
    package let product: ProductID?
    /// 16 bytes (identifierForVendor) or 6 (a Mac's address).
    package let deviceID: [UInt8]?

    package init(
        app: AppPolicy,
        bytes: [UInt8],
        customer: CustomerID,
        order: OrderID? = nil,
        product: ProductID? = nil,
        deviceID: [UInt8]? = nil
    ) {
        self.app = app
        self.bytes = bytes
        self.customer = customer
        self.order = order
        self.product = product
        self.deviceID = deviceID
    }

    var expectation: Expectation {
        Expectation(
            bundleID: app.bundleID,
            appleID: app.appleID,
            environments: app.environments,
            products: app.products,
            product: product,
            deviceID: deviceID,
            refusesEarly: true
        )
    }
}
