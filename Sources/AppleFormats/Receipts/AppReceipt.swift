/// The content of an app receipt, iOS 7 and later: a set of numbered attributes.
///
/// Decoding says nothing of trust: that is the envelope's matter. What is absent or written as an empty text is nil.
/// Moments are milliseconds since 1970. The content is kept once; whatever is raw is a slice of it.
package struct AppReceipt: Hashable, Sendable {
    /// Real receipts reach some hundreds of purchases; a merchant of daily subscriptions some thousands.
    package static let purchasesMax = 20_000
    /// Attributes of its own without a name; real receipts have about ten.
    package static let otherAttributesMax = 10_000

    /// `Production`, `ProductionSandbox`, `ProductionVPP`, `ProductionVPPSandbox`, `Sandbox` or `Xcode`.
    package private(set) var kind: String?
    package private(set) var bundleID: String?
    package private(set) var applicationVersion: String?
    package private(set) var originalApplicationVersion: String?
    package private(set) var creationDate: Int64?
    package private(set) var requestDate: Int64?
    package private(set) var originalPurchaseDate: Int64?
    package private(set) var expirationDate: Int64?
    /// 0 in sandbox.
    package private(set) var appAppleID: Int64?
    /// 0 in sandbox.
    package private(set) var downloadID: Int64?
    /// 0 in sandbox.
    package private(set) var versionExternalID: Int64?
    /// In the order in which they stand in the receipt, which means nothing.
    package private(set) var purchases: [ReceiptPurchase] = []

    /// What was decoded: places in it are counted from its beginning.
    package let content: ArraySlice<UInt8>
    /// The receipt's own attributes that have no field here.
    package private(set) var otherAttributes: [ReceiptAttribute] = []
    private var rawValues = RawValues()
    private var seen: UInt32 = 0

    private struct RawValues: Hashable {
        var bundleID = 0..<0
        var opaqueValue = 0..<0
        var deviceHash = 0..<0
    }

    /// Decodes all of a receipt's content; see ``SignedData/content``.
    package init(_ content: ArraySlice<UInt8>) throws(FormatFault) {
        self.content = content
        // Real purchases have 400 to 500 octets.
        purchases.reserveCapacity(min(content.count / 400, Self.purchasesMax))
        otherAttributes.reserveCapacity(12)
        let span = content.span
        var attributes = try AttributeReader(DERCursor(0..<span.count, rules: .ber), in: span)
        var layouts = PurchaseLayouts()
        while let attribute = try attributes.next(in: span) {
            if attribute.type == ReceiptAttribute.Receipt.inAppPurchase {
                guard purchases.count < Self.purchasesMax else { throw .tooLarge(at: attribute.value.lowerBound) }
                if try layouts.read(attribute.value, in: span, to: &purchases) { continue }
                let purchase = try Self.purchase(attributes, attribute, in: span)
                layouts.note(purchase)
                purchases.append(purchase)
            } else if try take(attribute, in: span) {
                // The named numbers lie between 0 and 21.
                let bit = UInt32(1) << UInt32(truncatingIfNeeded: attribute.type)
                guard seen & bit == 0 else { throw .repeated(field: "attribute_\(attribute.type)") }
                seen |= bit
            } else {
                guard otherAttributes.count < Self.otherAttributesMax else {
                    throw .tooLarge(at: attribute.value.lowerBound)
                }
                otherAttributes.append(attribute)
            }
        }
    }

    /// The attribute's value as raw octets, tag and length included where it has them.
    package func value(of attribute: ReceiptAttribute) -> ArraySlice<UInt8> {
        slice(attribute.value)
    }

    /// A purchase's attributes that have no field in it; looked for when asked.
    package func otherAttributes(of purchase: ReceiptPurchase) -> [ReceiptAttribute] {
        let span = content.span
        guard purchase.place.upperBound <= span.count, var attributes = purchase.attributes(in: span) else { return [] }
        var others: [ReceiptAttribute] = []
        while let attribute = try? attributes.next(in: span) {
            if ReceiptPurchase.field(of: attribute.type) == nil { others.append(attribute) }
        }
        return others
    }

    /// The text of one of a purchase's fields; nil for none.
    package func string(_ text: ReceiptText?) -> String? {
        text.map { String(decoding: slice($0.range), as: UTF8.self) }
    }

    /// The number in one of the receipt's own attributes that has no field here, such as the system's version.
    package func number(of type: Int32) -> Int64? {
        guard let attribute = otherAttributes.first(where: { $0.type == type }) else { return nil }
        return try? attribute.number("attribute", in: content.span)
    }

    /// The text in one of the receipt's own attributes that has no field here, such as the age rating.
    package func text(of type: Int32) -> String? {
        guard let attribute = otherAttributes.first(where: { $0.type == type }) else { return nil }
        return try? attribute.text("attribute", in: content.span)
    }

    /// The octets of attribute 2 with their tag and length: what the device hash is made over.
    package var bundleIDOctets: ArraySlice<UInt8> { slice(rawValues.bundleID) }

    /// Attribute 4, 16 octets or (Xcode) 8; empty when absent.
    package var opaqueValue: ArraySlice<UInt8> { slice(rawValues.opaqueValue) }

    /// Attribute 5: SHA-1 of device identifier, ``opaqueValue`` and ``bundleIDOctets``; empty when absent.
    package var deviceHash: ArraySlice<UInt8> { slice(rawValues.deviceHash) }

    /// Reads the bundle id alone, to sort a receipt before anything is verified.
    ///
    /// It stops at the first attribute 2; only the whole decoding refuses a second one.
    package static func bundleID(in content: ArraySlice<UInt8>) throws(FormatFault) -> String? {
        let span = content.span
        var attributes = try AttributeReader(DERCursor(0..<span.count, rules: .ber), in: span)
        while let attribute = try attributes.next(in: span) {
            guard attribute.type == ReceiptAttribute.Receipt.bundleID else { continue }
            return try attribute.text("bundle_id", in: span)
        }
        return nil
    }

    /// So many attributes are looked at for the number of a purchase; real receipts have some twenty before the first.
    package static let glancedMax = 64

    /// Reads the number of the first purchase alone, to know a receipt by that is refused: as little work whatever follows.
    ///
    /// - Returns: nil for none among the first ``glancedMax`` attributes, of the receipt or of the purchase.
    package static func firstTransactionID(in content: ArraySlice<UInt8>) throws(FormatFault) -> String? {
        let span = content.span
        var attributes = try AttributeReader(DERCursor(0..<span.count, rules: .ber), in: span)
        let type = ReceiptAttribute.Receipt.inAppPurchase
        guard let purchase = try first(type, of: &attributes, in: span) else { return nil }
        var inner = try AttributeReader(attributes.wrapped(in: purchase), in: span)
        let id = try first(ReceiptAttribute.Purchase.transactionID, of: &inner, in: span)
        return try id?.text("transaction_id", in: span)
    }

    private static func first(
        _ type: Int32,
        of attributes: inout AttributeReader,
        in span: Span<UInt8>
    ) throws(FormatFault) -> ReceiptAttribute? {
        for _ in 0..<glancedMax {
            guard let attribute = try attributes.next(in: span) else { return nil }
            if attribute.type == type { return attribute }
        }
        return nil
    }

    // MARK: Decoding

    /// Reads a purchase attribute by attribute.
    private static func purchase(
        _ reader: AttributeReader,
        _ wrapping: ReceiptAttribute,
        in span: Span<UInt8>
    ) throws(FormatFault) -> ReceiptPurchase {
        var attributes = try AttributeReader(reader.wrapped(in: wrapping), in: span)
        var purchase = ReceiptPurchase(at: wrapping.value)
        while let attribute = try attributes.next(in: span) {
            try purchase.take(attribute, in: span)
        }
        return purchase
    }

    private mutating func take(_ attribute: ReceiptAttribute, in span: Span<UInt8>) throws(FormatFault) -> Bool {
        typealias Number = ReceiptAttribute.Receipt
        switch attribute.type {
        case Number.kind: kind = try attribute.text("receipt_type", in: span)
        case Number.appAppleID: appAppleID = try attribute.number("app_item_id", in: span)
        case Number.bundleID:
            bundleID = try attribute.text("bundle_id", in: span)
            rawValues.bundleID = attribute.value
        case Number.applicationVersion: applicationVersion = try attribute.text("application_version", in: span)
        case Number.opaqueValue: rawValues.opaqueValue = attribute.value
        case Number.deviceHash: rawValues.deviceHash = attribute.value
        case Number.requestDate: requestDate = try attribute.moment("request_date", in: span)
        case Number.creationDate: creationDate = try attribute.moment("receipt_creation_date", in: span)
        case Number.downloadID: downloadID = try attribute.number("download_id", in: span)
        case Number.versionExternalID:
            versionExternalID = try attribute.number("version_external_identifier", in: span)
        case Number.originalPurchaseDate:
            originalPurchaseDate = try attribute.moment("original_purchase_date", in: span)
        case Number.originalApplicationVersion:
            originalApplicationVersion = try attribute.text("original_application_version", in: span)
        case Number.expirationDate: expirationDate = try attribute.moment("expiration_date", in: span)
        default: return false
        }
        return true
    }

    private func slice(_ range: Range<Int>) -> ArraySlice<UInt8> {
        let start = content.startIndex + range.lowerBound
        let end = content.startIndex + range.upperBound
        guard start <= end, end <= content.endIndex else { return [] }
        return content[start..<end]
    }
}
