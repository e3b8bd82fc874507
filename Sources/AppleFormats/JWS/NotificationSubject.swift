import Encoding

/// What a notification of a purchase is about, with the signed texts in it.
package struct NotificationData: Hashable, Sendable {
    /// Production; seldom in sandbox.
    package var appAppleID: Int64?
    package var bundleID: String?
    package var bundleVersion: String?
    package var environment: AppleEnvironment?
    /// A JWS of its own; see ``TransactionPayload``.
    package var signedTransactionInfo: String?
    /// A JWS of its own; see ``RenewalInfoPayload``.
    package var signedRenewalInfo: String?
    /// Subscriptions: the state at signing.
    package var status: AppleSubscriptionStatus?
    package var consumptionRequestReason: String?
    /// Members that have no field here, as they stand.
    package var others: [RawMember] = []

    /// Has nothing yet; for whoever makes payloads.
    package init() {}

    init(_ object: JSONObject) throws(FormatFault) {
        try object.forEachMember { name, value throws(FormatFault) in
            if try !take(name, value) { try others.add(name, value) }
        }
    }

    /// Makes a field of a member; false when there is none for it.
    private mutating func take(_ name: JSONName, _ value: JSONValue) throws(FormatFault) -> Bool {
        switch name {
        case "appAppleId": appAppleID = try value.number("appAppleId")
        case "bundleId": bundleID = try value.text("bundleId")
        case "bundleVersion": bundleVersion = try value.text("bundleVersion")
        case "environment": environment = try value.text("environment").map(AppleEnvironment.init(rawValue:))
        case "signedTransactionInfo": signedTransactionInfo = try value.text("signedTransactionInfo")
        case "signedRenewalInfo": signedRenewalInfo = try value.text("signedRenewalInfo")
        case "status": status = try value.number("status").map(AppleSubscriptionStatus.init(rawValue:))
        case "consumptionRequestReason": consumptionRequestReason = try value.text("consumptionRequestReason")
        default: return false
        }
        return true
    }

    func write(to object: inout JSONObjectWriter) {
        object.member("appAppleId", appAppleID)
        object.member("bundleId", bundleID)
        object.member("bundleVersion", bundleVersion)
        object.member("environment", environment?.rawValue)
        object.member("signedTransactionInfo", signedTransactionInfo)
        object.member("signedRenewalInfo", signedRenewalInfo)
        object.member("status", status?.rawValue)
        object.member("consumptionRequestReason", consumptionRequestReason)
        object.others(others)
    }
}

/// How the extension of many subscriptions ended.
package struct NotificationSummary: Hashable, Sendable {
    package var requestIdentifier: String?
    package var environment: AppleEnvironment?
    package var appAppleID: Int64?
    package var bundleID: String?
    package var productID: String?
    /// Absent for all.
    package var storefrontCountryCodes: [String]?
    package var succeededCount: Int64?
    package var failedCount: Int64?
    /// Members that have no field here, as they stand.
    package var others: [RawMember] = []

    /// Has nothing yet; for whoever makes payloads.
    package init() {}

    init(_ object: JSONObject) throws(FormatFault) {
        try object.forEachMember { name, value throws(FormatFault) in
            if try !take(name, value) { try others.add(name, value) }
        }
    }

    /// Makes a field of a member; false when there is none for it.
    private mutating func take(_ name: JSONName, _ value: JSONValue) throws(FormatFault) -> Bool {
        switch name {
        case "requestIdentifier": requestIdentifier = try value.text("requestIdentifier")
        case "environment": environment = try value.text("environment").map(AppleEnvironment.init(rawValue:))
        case "appAppleId": appAppleID = try value.number("appAppleId")
        case "bundleId": bundleID = try value.text("bundleId")
        case "productId": productID = try value.text("productId")
        case "storefrontCountryCodes": storefrontCountryCodes = try value.texts("storefrontCountryCodes")
        case "succeededCount": succeededCount = try value.number("succeededCount")
        case "failedCount": failedCount = try value.number("failedCount")
        default: return false
        }
        return true
    }

    func write(to object: inout JSONObjectWriter) {
        object.member("requestIdentifier", requestIdentifier)
        object.member("environment", environment?.rawValue)
        object.member("appAppleId", appAppleID)
        object.member("bundleId", bundleID)
        object.member("productId", productID)
        object.texts("storefrontCountryCodes", storefrontCountryCodes)
        object.member("succeededCount", succeededCount)
        object.member("failedCount", failedCount)
        object.others(others)
    }
}

/// A token for purchases outside of the App Store.
package struct ExternalPurchaseToken: Hashable, Sendable {
    /// Begins with `SANDBOX_` in sandbox: the only word of the environment.
    package var externalPurchaseID: String?
    package var tokenCreationDate: Int64?
    package var tokenExpirationDate: Int64?
    /// `SERVICES` or `ACQUISITION`.
    package var tokenType: String?
    package var appAppleID: Int64?
    package var bundleID: String?
    /// Members that have no field here, as they stand.
    package var others: [RawMember] = []

    /// Has nothing yet; for whoever makes payloads.
    package init() {}

    init(_ object: JSONObject) throws(FormatFault) {
        try object.forEachMember { name, value throws(FormatFault) in
            if try !take(name, value) { try others.add(name, value) }
        }
    }

    /// Makes a field of a member; false when there is none for it.
    private mutating func take(_ name: JSONName, _ value: JSONValue) throws(FormatFault) -> Bool {
        switch name {
        case "externalPurchaseId": externalPurchaseID = try value.text("externalPurchaseId")
        case "tokenCreationDate": tokenCreationDate = try value.moment("tokenCreationDate")
        case "tokenExpirationDate": tokenExpirationDate = try value.moment("tokenExpirationDate")
        case "tokenType": tokenType = try value.text("tokenType")
        case "appAppleId": appAppleID = try value.number("appAppleId")
        case "bundleId": bundleID = try value.text("bundleId")
        default: return false
        }
        return true
    }

    func write(to object: inout JSONObjectWriter) {
        object.member("externalPurchaseId", externalPurchaseID)
        object.member("tokenCreationDate", tokenCreationDate)
        object.member("tokenExpirationDate", tokenExpirationDate)
        object.member("tokenType", tokenType)
        object.member("appAppleId", appAppleID)
        object.member("bundleId", bundleID)
        object.others(others)
    }
}

/// What a notification about the app itself is about.
package struct NotificationAppData: Hashable, Sendable {
    package var appAppleID: Int64?
    package var bundleID: String?
    package var environment: AppleEnvironment?
    /// A JWS of its own; see ``AppTransactionPayload``.
    package var signedAppTransactionInfo: String?
    /// Members that have no field here, as they stand.
    package var others: [RawMember] = []

    /// Has nothing yet; for whoever makes payloads.
    package init() {}

    init(_ object: JSONObject) throws(FormatFault) {
        try object.forEachMember { name, value throws(FormatFault) in
            if try !take(name, value) { try others.add(name, value) }
        }
    }

    /// Makes a field of a member; false when there is none for it.
    private mutating func take(_ name: JSONName, _ value: JSONValue) throws(FormatFault) -> Bool {
        switch name {
        case "appAppleId": appAppleID = try value.number("appAppleId")
        case "bundleId": bundleID = try value.text("bundleId")
        case "environment": environment = try value.text("environment").map(AppleEnvironment.init(rawValue:))
        case "signedAppTransactionInfo": signedAppTransactionInfo = try value.text("signedAppTransactionInfo")
        default: return false
        }
        return true
    }

    func write(to object: inout JSONObjectWriter) {
        object.member("appAppleId", appAppleID)
        object.member("bundleId", bundleID)
        object.member("environment", environment?.rawValue)
        object.member("signedAppTransactionInfo", signedAppTransactionInfo)
        object.others(others)
    }
}
