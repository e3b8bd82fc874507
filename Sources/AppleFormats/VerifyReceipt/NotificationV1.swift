package import Encoding

/// An App Store Server Notification, version 1: JSON that is not signed; Apple proves itself by the shared secret.
///
/// The secret stands in its bytes: whoever shows these to somebody empties `password` first.
/// Moments are milliseconds since 1970. Source: Apple, *responseBodyV1*; recorded notifications.
package struct NotificationV1: Hashable, Sendable {
    /// Such as `DID_RENEW`.
    package let notificationType: String?
    /// The app's shared secret: to be compared in constant time, and shown to nobody.
    package let password: String?
    /// `Sandbox`, or `PROD` where everything else says `Production`.
    package let environment: String?
    package let bundleID: String?
    package let bundleVersion: String?
    package let autoRenewProductID: String?
    package let autoRenewAdamID: String?
    package let willAutoRenew: Bool?
    package let autoRenewStatusChangeDate: Int64?
    package let expirationIntent: AppleExpirationIntent?
    package let originalTransactionID: String?
    package let webOrderLineItemID: String?
    package let cancellationDate: Int64?
    /// When version 1 became deprecated, as text.
    package let deprecation: String?
    package let unifiedReceipt: UnifiedReceipt?
    /// Top-level members of before 2021, as what follows.
    package let latestReceipt: String?
    package let latestReceiptInfo: [AnswerTransaction]
    package let latestExpiredReceipt: String?
    package let latestExpiredReceiptInfo: AnswerTransaction?
    /// Members that have no field here, as they stand.
    package let others: [RawMember]

    package init(_ document: JSONDocument) throws(FormatFault) {
        var reader = AnswerReader(try document.members())
        notificationType = try reader.text("notification_type")
        password = try reader.text("password")
        environment = try reader.text("environment")
        bundleID = try reader.text("bid")
        bundleVersion = try reader.text("bvrs")
        autoRenewProductID = try reader.text("auto_renew_product_id")
        autoRenewAdamID = try reader.text("auto_renew_adam_id")
        willAutoRenew = try reader.flag("auto_renew_status")
        autoRenewStatusChangeDate = try reader.moment("auto_renew_status_change_date")
        expirationIntent = try reader.number("expiration_intent").map(AppleExpirationIntent.init(rawValue:))
        originalTransactionID = try reader.text("original_transaction_id")
        webOrderLineItemID = try reader.text("web_order_line_item_id")
        cancellationDate = try reader.moment("cancellation_date")
        deprecation = try reader.text("deprecation")
        unifiedReceipt = try UnifiedReceipt.optional(reader.element("unified_receipt"))
        latestReceipt = try reader.text("latest_receipt")
        latestReceiptInfo = try AnswerTransaction.list(reader.elementsOrOne("latest_receipt_info"))
        latestExpiredReceipt = try reader.text("latest_expired_receipt")
        latestExpiredReceiptInfo = try AnswerTransaction.list(reader.elementsOrOne("latest_expired_receipt_info")).first
        others = try reader.others()
    }
}
