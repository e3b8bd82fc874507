package import Encoding

/// An App Store Server Notification, version 2: responseBodyV2DecodedPayload.
///
/// Exactly one of ``data``, ``summary``, ``externalPurchaseToken`` and ``appData`` comes with it, or an object that is new to
/// us, among ``others``. Every field may be absent. Moments are milliseconds since 1970. The signed texts inside are proved by
/// themselves, not by this one.
/// Source: Apple, *responseBodyV2DecodedPayload* (App Store Server Notifications 2.21).
package struct NotificationPayload: Hashable, Sendable {
    /// Such as `DID_RENEW`; content decides what it means, not this word.
    package var notificationType: String?
    package var subtype: String?
    /// The same in every attempt to deliver one event.
    package var notificationUUID: String?
    /// `2.0`.
    package var version: String?
    /// When Apple signed this text.
    package var signedDate: Int64?
    /// Purchase events and tests.
    package var data: NotificationData?
    /// The end of a mass extension.
    package var summary: NotificationSummary?
    package var externalPurchaseToken: ExternalPurchaseToken?
    /// A guardian withdrew consent.
    package var appData: NotificationAppData?
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
        case "notificationType": notificationType = try value.text("notificationType")
        case "subtype": subtype = try value.text("subtype")
        case "notificationUUID": notificationUUID = try value.text("notificationUUID")
        case "version": version = try value.text("version")
        case "signedDate": signedDate = try value.moment("signedDate")
        case "data": data = try value.members("data").map(NotificationData.init)
        case "summary": summary = try value.members("summary").map(NotificationSummary.init)
        case "externalPurchaseToken":
            externalPurchaseToken = try value.members("externalPurchaseToken").map(ExternalPurchaseToken.init)
        case "appData": appData = try value.members("appData").map(NotificationAppData.init)
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
        object.member("notificationType", notificationType)
        object.member("subtype", subtype)
        object.member("notificationUUID", notificationUUID)
        object.member("version", version)
        object.member("signedDate", signedDate)
        object.nested("data", data, NotificationData.write)
        object.nested("summary", summary, NotificationSummary.write)
        object.nested("externalPurchaseToken", externalPurchaseToken, ExternalPurchaseToken.write)
        object.nested("appData", appData, NotificationAppData.write)
        object.others(others)
    }
}
