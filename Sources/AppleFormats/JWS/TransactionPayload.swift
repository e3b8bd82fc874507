package import Encoding

/// One signed transaction as Apple says it: JWSTransactionDecodedPayload.
///
/// Every field may be absent: 2021's texts lack what later years added. Moments are milliseconds since 1970. The nested
/// `advancedCommerceInfo` and `commitmentInfo` stay JSON, among ``others``.
/// Source: Apple, *JWSTransactionDecodedPayload* (App Store Server API 1.22).
package struct TransactionPayload: Hashable, Sendable {
    /// New for each purchase and renewal.
    package var transactionID: String?
    /// The first of the chain; equal to ``transactionID`` for a first purchase.
    package var originalTransactionID: String?
    /// Subscriptions: the billing period, unique for each renewal.
    package var webOrderLineItemID: String?
    package var bundleID: String?
    package var productID: String?
    /// Decimal digits; hexadecimal ones from Xcode.
    package var subscriptionGroupIdentifier: String?
    package var purchaseDate: Int64?
    package var originalPurchaseDate: Int64?
    /// Subscriptions; without a grace period.
    package var expiresDate: Int64?
    package var quantity: Int64?
    package var type: AppleProductType?
    /// A UUID, if the app gave one.
    package var appAccountToken: String?
    package var inAppOwnershipType: AppleOwnershipType?
    /// When Apple signed this text.
    package var signedDate: Int64?
    /// Absent before 2022.
    package var environment: AppleEnvironment?
    package var transactionReason: AppleTransactionReason?
    /// ISO 3166-1 alpha-3.
    package var storefront: String?
    package var storefrontID: String?
    /// Thousandths of the currency, quantity and discounts in it.
    package var price: Int64?
    /// ISO 4217.
    package var currency: String?
    /// The pair of Apple account and app.
    package var appTransactionID: String?
    /// 1 an actual or perceived issue in the app, 0 anything else.
    package var revocationReason: Int64?
    /// Present means taken back.
    package var revocationDate: Int64?
    package var revocationType: AppleRevocationType?
    /// Thousandths of a percent of the price, 0 to 100 000.
    package var revocationPercentage: Int64?
    /// Superseded by an upgrade.
    package var isUpgraded: Bool?
    package var offerType: AppleOfferType?
    /// Offer id, or the reference name of an offer code.
    package var offerIdentifier: String?
    package var offerDiscountType: AppleOfferDiscountType?
    /// ISO 8601 duration.
    package var offerPeriod: String?
    /// Before a migration to Advanced Commerce.
    package var previousOriginalTransactionID: String?
    /// `BILLED_UPFRONT` or `MONTHLY`.
    package var billingPlanType: String?
    /// Base64 of 48 octets; only in texts that came from a device.
    package var deviceVerification: String?
    package var deviceVerificationNonce: String?
    /// Members that have no field here, as they stand.
    package var others: [RawMember] = []

    /// Has nothing yet; for whoever makes payloads.
    package init() {}

    package init(_ document: JSONDocument) throws(FormatFault) {
        try self.init(document.members())
    }

    package init(_ object: JSONObject) throws(FormatFault) {
        // Made apart, it is moved at the end; of a `self` that a closure fills, all fields would be copied.
        var payload = TransactionPayload()
        try object.forEachMember { name, value throws(FormatFault) in
            if try !payload.take(name, value) { try payload.others.add(name, value) }
        }
        self = consume payload
    }

    /// Makes a field of a member; false when there is none for it. Sorted by length, few names need be compared.
    private mutating func take(_ name: JSONName, _ value: JSONValue) throws(FormatFault) -> Bool {
        switch name.bytesCount {
        case ...9: try takeShort(name, value)
        case ...14: try takeMiddling(name, value)
        case ...17: try takeLong(name, value)
        default: try takeLongest(name, value)
        }
    }

    private mutating func takeShort(_ name: JSONName, _ value: JSONValue) throws(FormatFault) -> Bool {
        switch name {
        case "bundleId": bundleID = try value.text("bundleId")
        case "productId": productID = try value.text("productId")
        case "quantity": quantity = try value.number("quantity")
        case "type": type = try value.word("type", among: AppleProductType.known)
        case "price": price = try value.number("price")
        case "currency": currency = try value.text("currency")
        case "offerType": offerType = try value.number("offerType").map(AppleOfferType.init(rawValue:))
        default: return false
        }
        return true
    }

    private mutating func takeMiddling(_ name: JSONName, _ value: JSONValue) throws(FormatFault) -> Bool {
        switch name {
        case "transactionId": transactionID = try value.text("transactionId")
        case "purchaseDate": purchaseDate = try value.moment("purchaseDate")
        case "expiresDate": expiresDate = try value.moment("expiresDate")
        case "signedDate": signedDate = try value.moment("signedDate")
        case "environment": environment = try value.text("environment").map(AppleEnvironment.init(rawValue:))
        case "storefront": storefront = try value.text("storefront")
        case "storefrontId": storefrontID = try value.text("storefrontId")
        case "revocationDate": revocationDate = try value.moment("revocationDate")
        case "revocationType":
            revocationType = try value.text("revocationType").map(AppleRevocationType.init(rawValue:))
        case "isUpgraded": isUpgraded = try value.flag("isUpgraded")
        case "offerPeriod": offerPeriod = try value.text("offerPeriod")
        default: return false
        }
        return true
    }

    private mutating func takeLong(_ name: JSONName, _ value: JSONValue) throws(FormatFault) -> Bool {
        switch name {
        case "appAccountToken": appAccountToken = try value.text("appAccountToken")
        case "transactionReason":
            transactionReason = try value.text("transactionReason").map(AppleTransactionReason.init(rawValue:))
        case "appTransactionId": appTransactionID = try value.text("appTransactionId")
        case "revocationReason": revocationReason = try value.number("revocationReason")
        case "offerIdentifier": offerIdentifier = try value.text("offerIdentifier")
        case "offerDiscountType":
            offerDiscountType = try value.text("offerDiscountType").map(AppleOfferDiscountType.init(rawValue:))
        case "billingPlanType": billingPlanType = try value.text("billingPlanType")
        default: return false
        }
        return true
    }

    private mutating func takeLongest(_ name: JSONName, _ value: JSONValue) throws(FormatFault) -> Bool {
        switch name {
        case "originalTransactionId": originalTransactionID = try value.text("originalTransactionId")
        case "webOrderLineItemId": webOrderLineItemID = try value.text("webOrderLineItemId")
        case "subscriptionGroupIdentifier": subscriptionGroupIdentifier = try value.text("subscriptionGroupIdentifier")
        case "originalPurchaseDate": originalPurchaseDate = try value.moment("originalPurchaseDate")
        case "inAppOwnershipType":
            inAppOwnershipType = try value.text("inAppOwnershipType").map(AppleOwnershipType.init(rawValue:))
        case "revocationPercentage": revocationPercentage = try value.number("revocationPercentage")
        case "previousOriginalTransactionId":
            previousOriginalTransactionID = try value.text("previousOriginalTransactionId")
        case "deviceVerification": deviceVerification = try value.text("deviceVerification")
        case "deviceVerificationNonce": deviceVerificationNonce = try value.text("deviceVerificationNonce")
        default: return false
        }
        return true
    }

    /// Writes the payload as JSON, so that reading can be tried both ways. The simulator has a writer of its own.
    package func encode() -> [UInt8] {
        JSONWriter.object(reserving: 1_024) { object in
            write(to: &object)
        }
    }

    func write(to object: inout JSONObjectWriter) {
        object.member("transactionId", transactionID)
        object.member("originalTransactionId", originalTransactionID)
        object.member("webOrderLineItemId", webOrderLineItemID)
        object.member("bundleId", bundleID)
        object.member("productId", productID)
        object.member("subscriptionGroupIdentifier", subscriptionGroupIdentifier)
        object.member("purchaseDate", purchaseDate)
        object.member("originalPurchaseDate", originalPurchaseDate)
        object.member("expiresDate", expiresDate)
        object.member("quantity", quantity)
        object.member("type", type?.rawValue)
        object.member("appAccountToken", appAccountToken)
        object.member("inAppOwnershipType", inAppOwnershipType?.rawValue)
        object.member("signedDate", signedDate)
        object.member("environment", environment?.rawValue)
        object.member("transactionReason", transactionReason?.rawValue)
        object.member("storefront", storefront)
        object.member("storefrontId", storefrontID)
        object.member("price", price)
        object.member("currency", currency)
        object.member("appTransactionId", appTransactionID)
        object.member("revocationReason", revocationReason)
        object.member("revocationDate", revocationDate)
        object.member("revocationType", revocationType?.rawValue)
        object.member("revocationPercentage", revocationPercentage)
        object.member("isUpgraded", isUpgraded)
        object.member("offerType", offerType?.rawValue)
        object.member("offerIdentifier", offerIdentifier)
        object.member("offerDiscountType", offerDiscountType?.rawValue)
        object.member("offerPeriod", offerPeriod)
        object.member("previousOriginalTransactionId", previousOriginalTransactionID)
        object.member("billingPlanType", billingPlanType)
        object.member("deviceVerification", deviceVerification)
        object.member("deviceVerificationNonce", deviceVerificationNonce)
        object.others(others)
    }
}
