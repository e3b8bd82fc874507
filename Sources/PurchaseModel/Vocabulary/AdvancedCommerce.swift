/// What was bought through Advanced Commerce, where the product is only the shop's generic one: the goods of the shop's own
/// list.
package struct AdvancedCommerce: Hashable, Sendable {
    package struct Item: Hashable, Sendable {
        /// The shop's own name for it.
        package let sku: String
        package let milliunits: Int64?
        /// When Apple took it back. That it did says nothing of the rest of the transaction.
        package let revokedAt: Timestamp?
        package let refunds: [Refund]

        package init(sku: String, milliunits: Int64?, revokedAt: Timestamp?, refunds: [Refund]) {
            self.sku = sku
            self.milliunits = milliunits
            self.revokedAt = revokedAt
            self.refunds = refunds
        }
    }

    package struct Refund: Hashable, Sendable {
        /// Apple's word: `FULL`, `PRORATED`, `CUSTOM`.
        package let type: String?
        package let milliunits: Int64?
        package let at: Timestamp?

        package init(type: String?, milliunits: Int64?, at: Timestamp?) {
            self.type = type
            self.milliunits = milliunits
            self.at = at
        }
    }

    /// So many are kept; Apple names no limit.
    package static let itemsMax = 50
    package static let refundsMax = 10
    /// Apple's limit is 128 characters.
    package static let skuBytesMax = 512

    package let items: [Item]

    package init(items: [Item]) { self.items = items }
}
