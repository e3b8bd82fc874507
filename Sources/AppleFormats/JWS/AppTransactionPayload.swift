package import Encoding

/// The download of the app itself: StoreKit's AppTransaction.
///
/// Every field may be absent. Moments are milliseconds since 1970. Source: Apple, *AppTransaction*; real texts.
package struct AppTransactionPayload: Hashable, Sendable {
    /// The environment, under a name of its own.
    package var receiptType: AppleEnvironment?
    /// Production only.
    package var appAppleID: Int64?
    package var bundleID: String?
    package var applicationVersion: String?
    /// Production only.
    package var versionExternalIdentifier: Int64?
    /// When this text was signed; there is no `signedDate`.
    package var receiptCreationDate: Int64?
    /// First download of the app; the year 1 from Xcode.
    package var originalPurchaseDate: Int64?
    /// `1.0` in sandbox.
    package var originalApplicationVersion: String?
    /// Base64 of 48 octets.
    package var deviceVerification: String?
    package var deviceVerificationNonce: String?
    package var preorderDate: Int64?
    /// The pair of Apple account and app.
    package var appTransactionID: String?
    /// `iOS`, `macOS`, `tvOS`, `visionOS`.
    package var originalPlatform: String?
    /// Xcode only.
    package var requestDate: Int64?
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

    /// Makes a field of a member; false when there is none for it.
    private mutating func take(_ name: JSONName, _ value: JSONValue) throws(FormatFault) -> Bool {
        switch name {
        case "receiptType": receiptType = try value.text("receiptType").map(AppleEnvironment.init(rawValue:))
        case "appAppleId": appAppleID = try value.number("appAppleId")
        case "bundleId": bundleID = try value.text("bundleId")
        case "applicationVersion": applicationVersion = try value.text("applicationVersion")
        case "versionExternalIdentifier": versionExternalIdentifier = try value.number("versionExternalIdentifier")
        case "receiptCreationDate": receiptCreationDate = try value.moment("receiptCreationDate")
        case "originalPurchaseDate": originalPurchaseDate = try value.moment("originalPurchaseDate")
        case "originalApplicationVersion": originalApplicationVersion = try value.text("originalApplicationVersion")
        case "deviceVerification": deviceVerification = try value.text("deviceVerification")
        case "deviceVerificationNonce": deviceVerificationNonce = try value.text("deviceVerificationNonce")
        case "preorderDate": preorderDate = try value.moment("preorderDate")
        case "appTransactionId": appTransactionID = try value.text("appTransactionId")
        case "originalPlatform": originalPlatform = try value.text("originalPlatform")
        case "requestDate": requestDate = try value.moment("requestDate")
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
        object.member("receiptType", receiptType?.rawValue)
        object.member("appAppleId", appAppleID)
        object.member("bundleId", bundleID)
        object.member("applicationVersion", applicationVersion)
        object.member("versionExternalIdentifier", versionExternalIdentifier)
        object.member("receiptCreationDate", receiptCreationDate)
        object.member("originalPurchaseDate", originalPurchaseDate)
        object.member("originalApplicationVersion", originalApplicationVersion)
        object.member("deviceVerification", deviceVerification)
        object.member("deviceVerificationNonce", deviceVerificationNonce)
        object.member("preorderDate", preorderDate)
        object.member("appTransactionId", appTransactionID)
        object.member("originalPlatform", originalPlatform)
        object.member("requestDate", requestDate)
        object.others(others)
    }
}
