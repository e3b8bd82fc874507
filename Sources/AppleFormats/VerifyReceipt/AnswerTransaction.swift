/// One transaction in verifyReceipt's answers: an element of `in_app` or `latest_receipt_info`, or a whole iOS 6 receipt.
///
/// Ids are texts, whether Apple wrote them so or as numbers. Moments are milliseconds since 1970.
/// Source: Apple, *responseBody.Receipt.In_app* and *responseBody.Latest_receipt_info*; recorded answers.
package struct AnswerTransaction: Hashable, Sendable {
    package let transactionID: String?
    package let originalTransactionID: String?
    package let webOrderLineItemID: String?
    package let productID: String?
    package let quantity: Int64?
    package let purchaseDate: Int64?
    package let originalPurchaseDate: Int64?
    package let expiresDate: Int64?
    /// Present means taken back.
    package let cancellationDate: Int64?
    /// 1 an actual or perceived issue in the app, 0 anything else.
    package let cancellationReason: Int64?
    package let isTrialPeriod: Bool?
    package let isInIntroOfferPeriod: Bool?
    package let isUpgraded: Bool?
    package let promotionalOfferID: String?
    /// The reference name of an offer code, not the code.
    package let offerCodeRefName: String?
    package let subscriptionGroupIdentifier: String?
    package let inAppOwnershipType: AppleOwnershipType?
    package let appAccountToken: String?
    /// iOS 6 only, as what follows.
    package let bundleID: String?
    package let bundleVersion: String?
    /// The product's number in the App Store.
    package let itemID: String?
    /// The app's number in the App Store.
    package let appItemID: String?
    package let versionExternalIdentifier: String?
    /// 40 hexadecimal digits that stand for the device.
    package let uniqueIdentifier: String?
    package let uniqueVendorIdentifier: String?
    /// Members that have no field here, as they stand.
    package let others: [RawMember]

    init(_ reader: AnswerReader) throws(FormatFault) {
        var reader = reader
        transactionID = try reader.text("transaction_id")
        originalTransactionID = try reader.text("original_transaction_id")
        webOrderLineItemID = try reader.text("web_order_line_item_id")
        productID = try reader.text("product_id")
        quantity = try reader.number("quantity")
        purchaseDate = try reader.moment("purchase_date")
        originalPurchaseDate = try reader.moment("original_purchase_date")
        expiresDate = try reader.moment("expires_date")
        cancellationDate = try reader.moment("cancellation_date")
        cancellationReason = try reader.number("cancellation_reason")
        isTrialPeriod = try reader.flag("is_trial_period")
        isInIntroOfferPeriod = try reader.flag("is_in_intro_offer_period")
        isUpgraded = try reader.flag("is_upgraded")
        promotionalOfferID = try reader.text("promotional_offer_id")
        offerCodeRefName = try reader.text("offer_code_ref_name")
        subscriptionGroupIdentifier = try reader.text("subscription_group_identifier")
        inAppOwnershipType = try reader.text("in_app_ownership_type").map(AppleOwnershipType.init(rawValue:))
        appAccountToken = try reader.text("app_account_token")
        bundleID = try reader.text("bid")
        bundleVersion = try reader.text("bvrs")
        itemID = try reader.text("item_id")
        appItemID = try reader.text("app_item_id")
        versionExternalIdentifier = try reader.text("version_external_identifier")
        uniqueIdentifier = try reader.text("unique_identifier")
        uniqueVendorIdentifier = try reader.text("unique_vendor_identifier")
        others = try reader.others()
    }

    static func list(_ readers: [AnswerReader]) throws(FormatFault) -> [AnswerTransaction] {
        var transactions: [AnswerTransaction] = []
        transactions.reserveCapacity(readers.count)
        for reader in readers { transactions.append(try AnswerTransaction(reader)) }
        return transactions
    }
}

/// What Apple will do next with one subscription: an element of `pending_renewal_info`.
package struct AnswerRenewal: Hashable, Sendable {
    package let originalTransactionID: String?
    package let productID: String?
    package let autoRenewProductID: String?
    package let willAutoRenew: Bool?
    package let expirationIntent: AppleExpirationIntent?
    package let isInBillingRetryPeriod: Bool?
    package let gracePeriodExpiresDate: Int64?
    /// 0 no answer yet, 1 consented.
    package let priceConsentStatus: Int64?
    package let priceIncreaseStatus: Int64?
    package let promotionalOfferID: String?
    package let offerCodeRefName: String?
    /// Members that have no field here, as they stand.
    package private(set) var others: [RawMember] = []

    init(_ reader: AnswerReader) throws(FormatFault) {
        var reader = reader
        try self.init(taking: &reader)
        others = try reader.others()
    }

    /// Takes the members out of an object that holds other things too.
    init(taking reader: inout AnswerReader) throws(FormatFault) {
        originalTransactionID = try reader.text("original_transaction_id")
        productID = try reader.text("product_id")
        autoRenewProductID = try reader.text("auto_renew_product_id")
        willAutoRenew = try reader.flag("auto_renew_status")
        expirationIntent = try reader.number("expiration_intent").map(AppleExpirationIntent.init(rawValue:))
        isInBillingRetryPeriod = try reader.flag("is_in_billing_retry_period")
        gracePeriodExpiresDate = try reader.moment("grace_period_expires_date")
        priceConsentStatus = try reader.number("price_consent_status")
        priceIncreaseStatus = try reader.number("price_increase_status")
        promotionalOfferID = try reader.text("promotional_offer_id")
        offerCodeRefName = try reader.text("offer_code_ref_name")
    }

    static func list(_ readers: [AnswerReader]) throws(FormatFault) -> [AnswerRenewal] {
        var renewals: [AnswerRenewal] = []
        for reader in readers { renewals.append(try AnswerRenewal(reader)) }
        return renewals
    }
}
