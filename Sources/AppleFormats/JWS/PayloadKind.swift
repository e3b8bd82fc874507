package import Encoding

/// What a signed payload is, told from its keys alone: a JWS names its kind nowhere.
package enum PayloadKind: String, Hashable, Sendable {
    case transaction
    case renewalInfo = "renewal_info"
    case appTransaction = "app_transaction"
    case notification
    /// Asks for a retention message; nothing that proves a purchase.
    case realtimeRequest = "realtime_request"
    case unknown

    package init(of payload: JSONDocument) {
        guard let object = payload.root.object else {
            self = .unknown
            return
        }
        self.init(of: object)
    }

    /// Each kind has keys that all of its kind have and none of another kind.
    package init(of payload: JSONObject) {
        func has(_ key: String) -> Bool { payload[key] != nil }
        if has("transactionId") {
            self = has("productId") ? .transaction : .unknown
        } else if has("notificationType") {
            self = has("notificationUUID") ? .notification : .unknown
        } else if has("receiptType") || has("receiptCreationDate") {
            self = has("bundleId") ? .appTransaction : .unknown
        } else if has("requestIdentifier"), has("userLocale") {
            self = .realtimeRequest
        } else if has("originalTransactionId"), has("autoRenewStatus") || has("autoRenewProductId") {
            self = .renewalInfo
        } else {
            self = .unknown
        }
    }
}
