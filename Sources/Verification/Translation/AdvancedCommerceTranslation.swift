import Encoding
import PurchaseModel

/// What was bought through Advanced Commerce, in our own words. What cannot be read of it is left out, and refuses nothing.
enum AdvancedCommerceTranslation {
    static func goods(_ info: JSONObject) -> AdvancedCommerce? {
        guard let items = info["items"]?.array else { return nil }
        let read = items.lazy.compactMap { $0.object.flatMap(item) }
        return AdvancedCommerce(items: Array(read.prefix(AdvancedCommerce.itemsMax)))
    }

    private static func item(_ object: JSONObject) -> AdvancedCommerce.Item? {
        guard let sku = object["SKU"]?.string, sku.isLine(of: AdvancedCommerce.skuBytesMax) else { return nil }
        let refunds = object["refunds"]?.array.map { refunds in
            refunds.prefix(AdvancedCommerce.refundsMax).compactMap { $0.object.map(refund) }
        }
        return AdvancedCommerce.Item(
            sku: sku,
            milliunits: object["price"]?.int64,
            revokedAt: moment(object["revocationDate"]),
            refunds: refunds ?? []
        )
    }

    private static func refund(_ object: JSONObject) -> AdvancedCommerce.Refund {
        let type = object["refundType"]?.string.flatMap { $0.isWord ? $0 : nil }
        return AdvancedCommerce.Refund(
            type: type,
            milliunits: object["refundAmount"]?.int64,
            at: moment(object["refundDate"])
        )
    }

    private static func moment(_ value: JSONValue?) -> Timestamp? {
        value?.milliseconds.map(Timestamp.init(milliseconds:))
    }
}

extension String {
    /// Whether it is a word as Apple's are.
    fileprivate var isWord: Bool {
        (1...64).contains(utf8.count)
            && utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) || $0 == UInt8(ascii: "_") }
    }
}
