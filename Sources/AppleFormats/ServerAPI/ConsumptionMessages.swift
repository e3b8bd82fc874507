import Encoding

/// What Apple is told after a CONSUMPTION_REQUEST, within 12 hours; only with the customer's consent.
///
/// Source: Apple, *ConsumptionRequest*, version 2 of API 1.19.
package struct ConsumptionInformation: Hashable, Sendable {
    package var sampleContentProvided: Bool
    package var deliveryStatus: AppleDeliveryStatus
    /// Thousandths of a percent, 0 to 100 000. Not for auto-renewable subscriptions; 0 unless delivered.
    package var consumptionPercentage: Int?
    package var refundPreference: AppleRefundPreference?

    /// `nil` without consent.
    ///
    /// - Parameters:
    ///   - customerConsented: without consent there is nothing to send.
    ///   - sampleContentProvided: whether the customer could try it before.
    ///   - deliveryStatus: whether it was delivered, or why not.
    package init?(customerConsented: Bool, sampleContentProvided: Bool, deliveryStatus: AppleDeliveryStatus) {
        guard customerConsented else { return nil }
        self.sampleContentProvided = sampleContentProvided
        self.deliveryStatus = deliveryStatus
    }

    /// The field that Apple would refuse, whatever was bought.
    package var faultyField: String? {
        guard let consumptionPercentage else { return nil }
        guard (0...100_000).contains(consumptionPercentage) else { return "consumptionPercentage" }
        return consumptionPercentage > 0 && deliveryStatus != .delivered ? "consumptionPercentage" : nil
    }

    package var json: [UInt8] {
        JSONWriter.object { body in
            body.member("customerConsented", true)
            body.member("sampleContentProvided", sampleContentProvided)
            body.member("deliveryStatus", deliveryStatus.rawValue)
            body.member("consumptionPercentage", consumptionPercentage)
            body.member("refundPreference", refundPreference?.rawValue)
        }
    }
}

/// Whether a purchase was delivered.
package struct AppleDeliveryStatus: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let delivered = AppleDeliveryStatus(rawValue: "DELIVERED")
    package static let qualityIssue = AppleDeliveryStatus(rawValue: "UNDELIVERED_QUALITY_ISSUE")
    package static let wrongItem = AppleDeliveryStatus(rawValue: "UNDELIVERED_WRONG_ITEM")
    package static let serverOutage = AppleDeliveryStatus(rawValue: "UNDELIVERED_SERVER_OUTAGE")
    package static let other = AppleDeliveryStatus(rawValue: "UNDELIVERED_OTHER")
}

/// What we would like Apple to decide.
package struct AppleRefundPreference: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let decline = AppleRefundPreference(rawValue: "DECLINE")
    package static let grantFull = AppleRefundPreference(rawValue: "GRANT_FULL")
    package static let grantProrated = AppleRefundPreference(rawValue: "GRANT_PRORATED")
}

/// The older form: consumables and auto-renewable subscriptions only, and the only one for Advanced Commerce.
///
/// Numbers are Apple's; 0 is *undeclared* wherever there is such a thing. Source: Apple, *ConsumptionRequestV1*.
package struct FirstConsumptionInformation: Hashable, Sendable {
    package var accountTenure = 0
    /// A UUID, or nothing.
    package var appAccountToken = ""
    package var consumptionStatus = 0
    /// 0 is *delivered and working* here.
    package var deliveryStatus: Int
    package var lifetimeDollarsPurchased = 0
    package var lifetimeDollarsRefunded = 0
    package var platform = 0
    package var playTime = 0
    package var refundPreference: Int?
    package var sampleContentProvided: Bool
    package var userStatus = 0

    /// `nil` without consent.
    ///
    /// - Parameters:
    ///   - customerConsented: without consent there is nothing to send.
    ///   - sampleContentProvided: whether the customer could try it before.
    ///   - deliveryStatus: 0 for delivered and working, 1 to 5 for why not.
    package init?(customerConsented: Bool, sampleContentProvided: Bool, deliveryStatus: Int) {
        guard customerConsented else { return nil }
        self.sampleContentProvided = sampleContentProvided
        self.deliveryStatus = deliveryStatus
    }

    package var json: [UInt8] {
        JSONWriter.object { body in
            body.member("accountTenure", accountTenure)
            body.member("appAccountToken", appAccountToken)
            body.member("consumptionStatus", consumptionStatus)
            body.member("customerConsented", true)
            body.member("deliveryStatus", deliveryStatus)
            body.member("lifetimeDollarsPurchased", lifetimeDollarsPurchased)
            body.member("lifetimeDollarsRefunded", lifetimeDollarsRefunded)
            body.member("platform", platform)
            body.member("playTime", playTime)
            body.member("refundPreference", refundPreference)
            body.member("sampleContentProvided", sampleContentProvided)
            body.member("userStatus", userStatus)
        }
    }
}
