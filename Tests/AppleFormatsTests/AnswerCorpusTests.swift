import AppleFormats
import Encoding
import Foundation
import TestSupport
import Testing

@Suite(
    "Real answers and version 1 notifications",
    .enabled(if: Corpus.isPresent, Comment(rawValue: Corpus.absenceNote))
)
struct AnswerCorpusTests {
    /// Compares a transaction with the JSON that it came from, read by another reader.
    private func compare(_ ours: AnswerTransaction, _ theirs: [String: Any]) throws {
        #expect(ours.transactionID == looseText(theirs["transaction_id"]))
        #expect(ours.originalTransactionID == looseText(theirs["original_transaction_id"]))
        #expect(ours.productID == looseText(theirs["product_id"]))
        #expect(ours.webOrderLineItemID == looseText(theirs["web_order_line_item_id"]))
        #expect(ours.quantity.map { String($0) } == looseText(theirs["quantity"]))
        for (moment, name) in [
            (ours.purchaseDate, "purchase_date"), (ours.originalPurchaseDate, "original_purchase_date"),
            (ours.cancellationDate, "cancellation_date"),
        ] {
            let expected =
                try looseText(theirs[name + "_ms"]).flatMap { Int64($0) } ?? milliseconds(ofFact: theirs[name])
            #expect(moment == expected, "\(name)")
        }
        let expires = looseText(theirs["expires_date_ms"]) ?? looseText(theirs["expires_date"])
        #expect(try ours.expiresDate == expires.flatMap { Int64($0) } ?? milliseconds(ofFact: theirs["expires_date"]))
        #expect(ours.isTrialPeriod.map { String($0) } == looseText(theirs["is_trial_period"]))
        #expect(ours.isInIntroOfferPeriod.map { String($0) } == looseText(theirs["is_in_intro_offer_period"]))
        #expect(ours.bundleID == looseText(theirs["bid"]))
        #expect(ours.itemID == looseText(theirs["item_id"]))
        #expect(ours.subscriptionGroupIdentifier == looseText(theirs["subscription_group_identifier"]))
        #expect(ours.inAppOwnershipType?.rawValue == looseText(theirs["in_app_ownership_type"]))
        #expect(ours.others.isEmpty, "\(ours.others.map(\.name))")
    }

    private func compare(_ ours: [AnswerTransaction], _ theirs: Any?) throws {
        let list = theirs as? [[String: Any]] ?? (theirs as? [String: Any]).map { [$0] } ?? []
        #expect(ours.count == list.count)
        for (our, their) in zip(ours, list) { try compare(our, their) }
    }

    private func looseText(_ value: Any?) -> String? {
        (value as? String).flatMap { $0.isEmpty ? nil : $0 } ?? (value as? NSNumber)?.stringValue
    }

    private func object(_ sample: CorpusCase) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(sample.content())) as? [String: Any])
    }

    @Test("verifyReceipt's answers are decoded whole", arguments: CorpusCase.all(in: "verify_receipt_responses"))
    func verifyReceipt(_ sample: CorpusCase) throws {
        let answer = try VerifyReceiptResponse(JSONDocument.ofApple(sample.content()))
        let theirs = try object(sample)
        #expect(answer.status?.rawValue == number(ofFact: theirs["status"]))
        #expect(answer.environment?.rawValue == looseText(theirs["environment"]))
        #expect(answer.latestReceipt == looseText(theirs["latest_receipt"]))
        try compare(answer.latestReceiptInfo, theirs["latest_receipt_info"])
        try compare(answer.latestExpiredReceiptInfo.map { [$0] } ?? [], theirs["latest_expired_receipt_info"])
        let unified = theirs["unified_receipt"] as? [String: Any]
        try compare(answer.unifiedReceipt?.latestReceiptInfo ?? [], unified?["latest_receipt_info"])
        let renewals = theirs["pending_renewal_info"] as? [[String: Any]] ?? []
        #expect(answer.pendingRenewalInfo.count == renewals.count)
        for (ours, renewal) in zip(answer.pendingRenewalInfo, renewals) {
            #expect(ours.productID == looseText(renewal["product_id"]))
            #expect(ours.autoRenewProductID == looseText(renewal["auto_renew_product_id"]))
            #expect(ours.willAutoRenew == looseText(renewal["auto_renew_status"]).map { $0 == "1" })
            #expect(ours.isInBillingRetryPeriod == looseText(renewal["is_in_billing_retry_period"]).map { $0 == "1" })
            #expect(ours.expirationIntent.map { String($0.rawValue) } == looseText(renewal["expiration_intent"]))
            #expect(ours.others.isEmpty)
        }
        #expect(answer.others.isEmpty, "\(answer.others.map(\.name))")
        let receipt = theirs["receipt"] as? [String: Any]
        switch answer.receipt {
        case .app(let ours): try compare(ours, #require(receipt))
        case .transaction(let ours): try compare(ours, #require(receipt))
        case nil: #expect(receipt == nil)
        }
    }

    private func compare(_ ours: AnswerAppReceipt, _ theirs: [String: Any]) throws {
        #expect(ours.bundleID == looseText(theirs["bundle_id"]))
        #expect(ours.receiptType == looseText(theirs["receipt_type"]))
        #expect(ours.applicationVersion == looseText(theirs["application_version"]))
        #expect(ours.downloadID == number(ofFact: theirs["download_id"]))
        #expect(ours.appItemID == number(ofFact: theirs["app_item_id"]))
        #expect(ours.adamID == number(ofFact: theirs["adam_id"]))
        #expect(ours.versionExternalIdentifier == number(ofFact: theirs["version_external_identifier"]))
        for (moment, name) in [
            (ours.receiptCreationDate, "receipt_creation_date"), (ours.requestDate, "request_date"),
            (ours.originalPurchaseDate, "original_purchase_date"),
        ] {
            #expect(moment == looseText(theirs[name + "_ms"]).flatMap { Int64($0) }, "\(name)")
        }
        try compare(ours.inApp, theirs["in_app"])
        #expect(ours.others.isEmpty, "\(ours.others.map(\.name))")
    }

    @Test("version 1 notifications are decoded whole", arguments: CorpusCase.all(in: "notifications_v1"))
    func version1(_ sample: CorpusCase) throws {
        let notification = try NotificationV1(JSONDocument.ofApple(sample.content()))
        let theirs = try object(sample)
        #expect(notification.notificationType == sample.notificationType)
        #expect(notification.password == looseText(theirs["password"]))
        #expect(notification.environment == looseText(theirs["environment"]))
        #expect(notification.bundleID == looseText(theirs["bid"]))
        #expect(notification.willAutoRenew.map { String($0) } == looseText(theirs["auto_renew_status"]))
        #expect(notification.originalTransactionID == looseText(theirs["original_transaction_id"]))
        try compare(notification.latestReceiptInfo, theirs["latest_receipt_info"])
        let unified = theirs["unified_receipt"] as? [String: Any]
        try compare(notification.unifiedReceipt?.latestReceiptInfo ?? [], unified?["latest_receipt_info"])
        #expect(notification.others.isEmpty, "\(notification.others.map(\.name))")
        #expect(notification.unifiedReceipt?.others.isEmpty != false)
    }
}
