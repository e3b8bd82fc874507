package import Encoding

/// What Apple will do next with a subscription: JWSRenewalInfoDecodedPayload.
///
/// Every field may be absent. Moments are milliseconds since 1970. The nested `advancedCommerceInfo` and
/// `commitmentInfo` stay JSON, among ``others``.
/// Source: Apple, *JWSRenewalInfoDecodedPayload* (App Store Server API 1.22).
package struct RenewalInfoPayload: Hashable, Sendable {
    package var originalTransactionID: String?
    /// The product of the current or last period.
    package var productID: String?
    /// The product that will renew next.
    package var autoRenewProductID: String?
    /// 1 on, 0 off.
    package var autoRenewStatus: Int64?
    /// Absent before 2022.
    package var environment: AppleEnvironment?
    /// When Apple signed this text.
    package var signedDate: Int64?
    /// Start of the newest stretch of service without a gap of more than 60 days.
    package var recentSubscriptionStartDate: Int64?
    /// When the latest period ends, also with renewal off.
    package var renewalDate: Int64?
    /// Expired subscriptions.
    package var expirationIntent: AppleExpirationIntent?
    package var isInBillingRetryPeriod: Bool?
    package var gracePeriodExpiresDate: Int64?
    /// 0 no answer yet, 1 consented or merely notified.
    package var priceIncreaseStatus: Int64?
    /// Of the next renewal.
    package var offerType: AppleOfferType?
    package var offerIdentifier: String?
    package var offerDiscountType: AppleOfferDiscountType?
    /// ISO 8601 duration.
    package var offerPeriod: String?
    /// Thousandths of the currency.
    package var renewalPrice: Int64?
    /// ISO 4217.
    package var currency: String?
    /// Best first.
    package var eligibleWinBackOfferIDs: [String]?
    /// The token that the next renewal will carry.
    package var appAccountToken: String?
    package var appTransactionID: String?
    /// `BILLED_UPFRONT` or `MONTHLY`.
    package var renewalBillingPlanType: String?
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
        try object.forEachMember { name, value throws(FormatFault) in
            if try !take(name, value) { try others.add(name, value) }
        }
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
        case "productId": productID = try value.text("productId")
        case "offerType": offerType = try value.number("offerType").map(AppleOfferType.init(rawValue:))
        case "currency": currency = try value.text("currency")
        default: return false
        }
        return true
    }

    private mutating func takeMiddling(_ name: JSONName, _ value: JSONValue) throws(FormatFault) -> Bool {
        switch name {
        case "environment": environment = try value.text("environment").map(AppleEnvironment.init(rawValue:))
        case "signedDate": signedDate = try value.moment("signedDate")
        case "renewalDate": renewalDate = try value.moment("renewalDate")
        case "offerPeriod": offerPeriod = try value.text("offerPeriod")
        case "renewalPrice": renewalPrice = try value.number("renewalPrice")
        default: return false
        }
        return true
    }

    private mutating func takeLong(_ name: JSONName, _ value: JSONValue) throws(FormatFault) -> Bool {
        switch name {
        case "autoRenewStatus": autoRenewStatus = try value.number("autoRenewStatus")
        case "expirationIntent":
            expirationIntent = try value.number("expirationIntent").map(AppleExpirationIntent.init(rawValue:))
        case "offerIdentifier": offerIdentifier = try value.text("offerIdentifier")
        case "offerDiscountType":
            offerDiscountType = try value.text("offerDiscountType").map(AppleOfferDiscountType.init(rawValue:))
        case "appAccountToken": appAccountToken = try value.text("appAccountToken")
        case "appTransactionId": appTransactionID = try value.text("appTransactionId")
        default: return false
        }
        return true
    }

    private mutating func takeLongest(_ name: JSONName, _ value: JSONValue) throws(FormatFault) -> Bool {
        switch name {
        case "originalTransactionId": originalTransactionID = try value.text("originalTransactionId")
        case "autoRenewProductId": autoRenewProductID = try value.text("autoRenewProductId")
        case "recentSubscriptionStartDate":
            recentSubscriptionStartDate = try value.moment("recentSubscriptionStartDate")
        case "isInBillingRetryPeriod": isInBillingRetryPeriod = try value.flag("isInBillingRetryPeriod")
        case "gracePeriodExpiresDate": gracePeriodExpiresDate = try value.moment("gracePeriodExpiresDate")
        case "priceIncreaseStatus": priceIncreaseStatus = try value.number("priceIncreaseStatus")
        case "eligibleWinBackOfferIds": eligibleWinBackOfferIDs = try value.texts("eligibleWinBackOfferIds")
        case "renewalBillingPlanType": renewalBillingPlanType = try value.text("renewalBillingPlanType")
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
        object.member("originalTransactionId", originalTransactionID)
        object.member("productId", productID)
        object.member("autoRenewProductId", autoRenewProductID)
        object.member("autoRenewStatus", autoRenewStatus)
        object.member("environment", environment?.rawValue)
        object.member("signedDate", signedDate)
        object.member("recentSubscriptionStartDate", recentSubscriptionStartDate)
        object.member("renewalDate", renewalDate)
        object.member("expirationIntent", expirationIntent?.rawValue)
        object.member("isInBillingRetryPeriod", isInBillingRetryPeriod)
        object.member("gracePeriodExpiresDate", gracePeriodExpiresDate)
        object.member("priceIncreaseStatus", priceIncreaseStatus)
        object.member("offerType", offerType?.rawValue)
        object.member("offerIdentifier", offerIdentifier)
        object.member("offerDiscountType", offerDiscountType?.rawValue)
        object.member("offerPeriod", offerPeriod)
        object.member("renewalPrice", renewalPrice)
        object.member("currency", currency)
        object.texts("eligibleWinBackOfferIds", eligibleWinBackOfferIDs)
        object.member("appAccountToken", appAccountToken)
        object.member("appTransactionId", appTransactionID)
        object.member("renewalBillingPlanType", renewalBillingPlanType)
        object.member("deviceVerification", deviceVerification)
        object.member("deviceVerificationNonce", deviceVerificationNonce)
        object.others(others)
    }
}
