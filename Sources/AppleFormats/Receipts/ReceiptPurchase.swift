/// One purchase in an app receipt: attribute 17.
///
/// What is absent or written as an empty text is nil. Moments are milliseconds since 1970. Texts stay in the receipt until
/// ``AppReceipt/string(_:)`` is asked for them: a purchase owns no memory, and five hundred of them take one allocation. One
/// that an earlier purchase has, too, may be where it stands there.
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
    private var start: UInt32
    private var end: UInt32
    /// The named attributes that were there, one bit each, so that none counts twice.
    private var seen: UInt32 = 0

    /// - Parameter place: a SET OF ReceiptAttribute, inside an attribute's value, whose bounds fit.
    init(at place: Range<Int>) {
        start = UInt32(truncatingIfNeeded: place.lowerBound)
        end = UInt32(truncatingIfNeeded: place.upperBound)
    }

    /// Where the purchase stands in the receipt's content.
    var place: Range<Int> { Int(start)..<Int(end) }

    mutating func move(to place: Range<Int>) {
        start = UInt32(truncatingIfNeeded: place.lowerBound)
        end = UInt32(truncatingIfNeeded: place.upperBound)
    }

    /// All its attributes, once more, of a purchase that was read without a fault; nil where no set stands.
    func attributes(in span: Span<UInt8>) -> AttributeReader? {
        try? AttributeReader(DERCursor(place, rules: .ber), in: span)
    }

    /// Takes over an attribute if it has a name.
    mutating func take(_ attribute: ReceiptAttribute, in span: Span<UInt8>) throws(FormatFault) {
        guard let field = Self.field(of: attribute.type) else { return }
        try take(attribute.element(field, in: span), as: attribute.type, in: span)
        // The named numbers lie between 1701 and 1721.
        let bit = UInt32(1) << UInt32(truncatingIfNeeded: attribute.type &- 1_700)
        guard seen & bit == 0 else { throw .repeated(field: "attribute_\(attribute.type)") }
        seen |= bit
    }

    /// Takes over the value of the named attribute of that number.
    @inline(__always)
    mutating func take(_ value: ReceiptValue, as number: Int32, in span: Span<UInt8>) throws(FormatFault) {
        typealias Number = ReceiptAttribute.Purchase
        switch number {
        case Number.quantity: quantity = try value.number(in: span)
        case Number.productID: productID = try value.place(in: span)
        case Number.transactionID: transactionID = try value.place(in: span)
        case Number.purchaseDate: purchaseDate = try value.moment(in: span)
        case Number.originalTransactionID: originalTransactionID = try value.place(in: span)
        case Number.originalPurchaseDate: originalPurchaseDate = try value.moment(in: span)
        case Number.productType: productType = try value.number(in: span)
        case Number.expiresDate: expiresDate = try value.moment(in: span)
        case Number.productAppleID: productAppleID = try value.number(in: span)
        case Number.webOrderLineItemID: webOrderLineItemID = try value.number(in: span)
        case Number.cancellationDate: cancellationDate = try value.moment(in: span)
        case Number.isTrialPeriod: isTrialPeriod = try value.flag(in: span)
        case Number.isInIntroOfferPeriod: isInIntroOfferPeriod = try value.flag(in: span)
        case Number.promotionalOfferID: promotionalOfferID = try value.place(in: span)
        default: break
        }
    }

    /// The name of the field that an attribute of that number fills; nil when none does.
    static func field(of number: Int32) -> StaticString? {
        typealias Number = ReceiptAttribute.Purchase
        return switch number {
        case Number.quantity: "quantity"
        case Number.productID: "product_id"
        case Number.transactionID: "transaction_id"
        case Number.purchaseDate: "purchase_date"
        case Number.originalTransactionID: "original_transaction_id"
        case Number.originalPurchaseDate: "original_purchase_date"
        case Number.productType: "product_type"
        case Number.expiresDate: "expires_date"
        case Number.productAppleID: "item_id"
        case Number.webOrderLineItemID: "web_order_line_item_id"
        case Number.cancellationDate: "cancellation_date"
        case Number.isTrialPeriod: "is_trial_period"
        case Number.isInIntroOfferPeriod: "is_in_intro_offer_period"
        case Number.promotionalOfferID: "promotional_offer_id"
        default: nil
        }
    }
}
