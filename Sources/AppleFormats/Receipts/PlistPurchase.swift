/// The purchase in an iOS 6 receipt. All of its values are texts; ids stay texts, moments are milliseconds since 1970.
///
/// The keys vary: 11 in 2011 (no milliseconds), 25 in 2025. An empty value counts as none.
package struct PlistPurchase: Hashable, Sendable {
    /// Every key and value as they stand.
    package let pairs: [OldPlist.Pair]

    init(_ plist: OldPlist) {
        pairs = plist.pairs
    }

    package var bundleID: String? { self["bid"] }
    package var bundleVersion: String? { self["bvrs"] }
    package var productID: String? { self["product-id"] }
    /// The product's number in the App Store.
    package var itemID: String? { self["item-id"] }
    /// The app's number in the App Store; production only.
    package var appItemID: String? { self["app-item-id"] }
    package var versionExternalID: String? { self["version-external-identifier"] }
    package var transactionID: String? { self["transaction-id"] }
    package var originalTransactionID: String? { self["original-transaction-id"] }
    package var webOrderLineItemID: String? { self["web-order-line-item-id"] }
    /// 40 hexadecimal digits that stand for the device.
    package var uniqueIdentifier: String? { self["unique-identifier"] }
    /// The device's identifierForVendor.
    package var uniqueVendorIdentifier: String? { self["unique-vendor-identifier"] }
    package var quantity: Int64? { self["quantity"].flatMap { Int64($0) } }
    package var isTrialPeriod: Bool? { flag("is-trial-period") }
    package var isInIntroOfferPeriod: Bool? { flag("is-in-intro-offer-period") }
    package var purchaseDate: Int64? { moment("purchase-date-ms", text: "purchase-date") }
    package var originalPurchaseDate: Int64? { moment("original-purchase-date-ms", text: "original-purchase-date") }
    /// Auto-renewable subscriptions only.
    package var expiresDate: Int64? { moment("expires-date", text: "expires-date-formatted") }
    package var cancellationDate: Int64? { moment("cancellation-date-ms", text: "cancellation-date") }

    /// The value of any key, nil when absent or empty.
    package subscript(key: String) -> String? {
        pairs.first { $0.key == key }.flatMap { $0.value.isEmpty ? nil : $0.value }
    }

    /// The milliseconds where they stand, otherwise the date as text.
    private func moment(_ millisecondsKey: String, text textKey: String) -> Int64? {
        if let text = self[millisecondsKey] {
            return Int64(text) ?? AppleDate.milliseconds(text)
        }
        return self[textKey].flatMap { AppleDate.milliseconds($0) }
    }

    private func flag(_ key: String) -> Bool? {
        switch self[key] {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
    }
}
