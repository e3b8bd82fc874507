/// One purchase in an app receipt: attribute 17.
///
/// What is absent or written as an empty text is nil. Moments are milliseconds since 1970. Texts stay in the receipt until
/// ``AppReceipt/string(_:)`` is asked for them: a purchase owns no memory, and five hundred of them take one allocation.
package struct ReceiptPurchase: Hashable, Sendable {
    package internal(set) var quantity: Int64?
    package internal(set) var productID: ReceiptText?
    package internal(set) var transactionID: ReceiptText?
    package internal(set) var originalTransactionID: ReceiptText?
    package internal(set) var purchaseDate: Int64?
    package internal(set) var originalPurchaseDate: Int64?
    package internal(set) var expiresDate: Int64?
    package internal(set) var cancellationDate: Int64?
    /// 0 non-consumable, 1 consumable, 2 non-renewing, 3 auto-renewable, 4 the old free subscription.
    package internal(set) var productType: Int64?
    /// The product's own number in the App Store; 0 in sandbox.
    package internal(set) var productAppleID: Int64?
    /// 0 without a subscription.
    package internal(set) var webOrderLineItemID: Int64?
    package internal(set) var isTrialPeriod: Bool?
    package internal(set) var isInIntroOfferPeriod: Bool?
    package internal(set) var promotionalOfferID: ReceiptText?
    /// Where this purchase's further attributes stand in the receipt's list of them.
    var otherAttributes: Range<Int> = 0..<0
    /// The named attributes that were there, one bit each, so that none counts twice.
    private var seen: UInt32 = 0

    init() {}

    /// Takes over an attribute that has a name.
    ///
    /// - Returns: false when it has none.
    mutating func take(_ attribute: ReceiptAttribute, in span: Span<UInt8>) throws(FormatFault) -> Bool {
        typealias Number = ReceiptAttribute.Purchase
        switch attribute.type {
        case Number.quantity: quantity = try attribute.number("quantity", in: span)
        case Number.productID: productID = try attribute.checkedText("product_id", in: span)
        case Number.transactionID: transactionID = try attribute.checkedText("transaction_id", in: span)
        case Number.purchaseDate: purchaseDate = try attribute.moment("purchase_date", in: span)
        case Number.originalTransactionID:
            originalTransactionID = try attribute.checkedText("original_transaction_id", in: span)
        case Number.originalPurchaseDate:
            originalPurchaseDate = try attribute.moment("original_purchase_date", in: span)
        case Number.productType: productType = try attribute.number("product_type", in: span)
        case Number.expiresDate: expiresDate = try attribute.moment("expires_date", in: span)
        case Number.productAppleID: productAppleID = try attribute.number("item_id", in: span)
        case Number.webOrderLineItemID:
            webOrderLineItemID = try attribute.number("web_order_line_item_id", in: span)
        case Number.cancellationDate: cancellationDate = try attribute.moment("cancellation_date", in: span)
        case Number.isTrialPeriod: isTrialPeriod = try attribute.flag("is_trial_period", in: span)
        case Number.isInIntroOfferPeriod:
            isInIntroOfferPeriod = try attribute.flag("is_in_intro_offer_period", in: span)
        case Number.promotionalOfferID:
            promotionalOfferID = try attribute.checkedText("promotional_offer_id", in: span)
        default: return false
        }
        // The named numbers lie between 1701 and 1721.
        let bit = UInt32(1) << UInt32(truncatingIfNeeded: attribute.type &- 1_700)
        guard seen & bit == 0 else { throw .repeated(field: "attribute_\(attribute.type)") }
        seen |= bit
        return true
    }
}
