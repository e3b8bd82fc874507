/// How a product is sold. An open value: what Apple adds tomorrow stays what it is.
package struct ProductKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let consumable = ProductKind(rawValue: "consumable")
    package static let nonConsumable = ProductKind(rawValue: "non_consumable")
    package static let autoRenewable = ProductKind(rawValue: "auto_renewable_subscription")
    package static let nonRenewing = ProductKind(rawValue: "non_renewing_subscription")
    /// The free subscription of Newsstand days; only old receipts carry it.
    package static let freeSubscription = ProductKind(rawValue: "free_subscription")

    package var description: String { rawValue }
}
