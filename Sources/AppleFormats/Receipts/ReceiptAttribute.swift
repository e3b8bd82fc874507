/// One attribute of a receipt that no field was made of: its numbers, and where its value stands in the content.
package struct ReceiptAttribute: Hashable, Sendable {
    package let type: Int32
    /// 1 everywhere save for the opaque value of App Store receipts, where it is 2.
    package let version: Int32
    private let start: UInt32
    private let end: UInt32

    /// The value's octets, by their distance from the content's beginning.
    package var value: Range<Int> { Int(start)..<Int(end) }

    init?(type: Int64, version: Int64, value: Range<Int>) {
        guard
            let type = Int32(exactly: type), let version = Int32(exactly: version),
            let start = UInt32(exactly: value.lowerBound), let end = UInt32(exactly: value.upperBound)
        else { return nil }
        self.type = type
        self.version = version
        self.start = start
        self.end = end
    }

    /// With a value inside content of at most 4 GiB.
    init(type: Int32, version: Int32, shortValue value: Range<Int>) {
        self.type = type
        self.version = version
        start = UInt32(truncatingIfNeeded: value.lowerBound)
        end = UInt32(truncatingIfNeeded: value.upperBound)
    }
}

/// Where a text stands in the receipt's content: UTF-8 without NUL, never empty.
package struct ReceiptText: Hashable, Sendable {
    private let start: UInt32
    private let end: UInt32

    /// The text's octets, by their distance from the content's beginning.
    package var range: Range<Int> { Int(start)..<Int(end) }

    /// Lies inside an attribute's value, whose bounds fit.
    init(_ range: Range<Int>) {
        start = UInt32(truncatingIfNeeded: range.lowerBound)
        end = UInt32(truncatingIfNeeded: range.upperBound)
    }
}

extension ReceiptAttribute {
    /// The numbers of the receipt's own attributes.
    ///
    /// "Apple" marks those in *Validating receipts on the device*; "seen" those proved by receipts that were found
    /// beside verifyReceipt's answer for them.
    package enum Receipt {
        /// Seen: `Production`, `ProductionSandbox`, `ProductionVPP`, `ProductionVPPSandbox`, `Sandbox`, `Xcode`.
        package static let kind: Int32 = 0
        /// Seen: the app's Apple id; 0 in sandbox.
        package static let appAppleID: Int32 = 1
        /// Apple.
        package static let bundleID: Int32 = 2
        /// Apple.
        package static let applicationVersion: Int32 = 3
        /// Apple: raw octets, 16 or (Xcode) 8.
        package static let opaqueValue: Int32 = 4
        /// Apple: raw octets, SHA-1 over device, opaque value and bundle id.
        package static let deviceHash: Int32 = 5
        /// Seen: enciphered octets. Never to be decoded, though they may look like ASN.1.
        package static let cipherA: Int32 = 6
        /// Seen: as 6.
        package static let cipherB: Int32 = 7
        /// Seen: when the receipt was asked for; empty in sandbox.
        package static let requestDate: Int32 = 8
        /// Seen: a tool's version, four ASCII letters in an integer.
        package static let toolVersion: Int32 = 9
        /// Seen: age rating such as `4+`.
        package static let ageRating: Int32 = 10
        /// Seen: the developer's number; 0 in sandbox.
        package static let developerID: Int32 = 11
        /// Apple: when the receipt was made; its chain is judged at this moment.
        package static let creationDate: Int32 = 12
        /// Seen: the system's version, such as 170200 for 17.2.
        package static let systemVersion: Int32 = 13
        /// Seen: the download's number, up to 18 digits; 0 in sandbox.
        package static let downloadID: Int32 = 15
        /// Seen: the App Store's number of the app's version; 0 in sandbox.
        package static let versionExternalID: Int32 = 16
        /// Apple: one purchase; it repeats.
        package static let inAppPurchase: Int32 = 17
        /// Seen: when the app was first downloaded; 2013-08-01T07:00:00Z in sandbox.
        package static let originalPurchaseDate: Int32 = 18
        /// Apple: the version first downloaded; `1.0` in sandbox.
        package static let originalApplicationVersion: Int32 = 19
        /// Apple: when the receipt ends (volume purchases); 4001-01-01 from Xcode.
        package static let expirationDate: Int32 = 21
    }

    /// The numbers of the attributes of one purchase, inside attribute 17; sources as above.
    package enum Purchase {
        /// Apple.
        package static let quantity: Int32 = 1701
        /// Apple.
        package static let productID: Int32 = 1702
        /// Apple.
        package static let transactionID: Int32 = 1703
        /// Apple.
        package static let purchaseDate: Int32 = 1704
        /// Apple; absent from many Xcode receipts.
        package static let originalTransactionID: Int32 = 1705
        /// Apple.
        package static let originalPurchaseDate: Int32 = 1706
        /// Seen: 0 non-consumable, 1 consumable, 2 non-renewing, 3 auto-renewable, 4 the old free subscription.
        package static let productType: Int32 = 1707
        /// Apple; empty without a subscription.
        package static let expiresDate: Int32 = 1708
        /// Seen: the product's Apple id; 0 in sandbox.
        package static let productAppleID: Int32 = 1710
        /// Apple; 0 without a subscription.
        package static let webOrderLineItemID: Int32 = 1711
        /// Apple; empty without a refund.
        package static let cancellationDate: Int32 = 1712
        /// Apple.
        package static let isTrialPeriod: Int32 = 1713
        /// Apple.
        package static let isInIntroOfferPeriod: Int32 = 1719
        /// Apple.
        package static let promotionalOfferID: Int32 = 1721
    }
}
