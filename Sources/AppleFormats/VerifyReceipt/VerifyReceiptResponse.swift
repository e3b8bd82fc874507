package import Encoding

/// An answer of the deprecated verifyReceipt endpoint, for app receipts and for iOS 6 receipts.
///
/// Nothing in it is signed. Moments are milliseconds since 1970. Source: Apple, *responseBody* of *App Store Receipts*;
/// recorded answers of 2012 to 2024.
package struct VerifyReceiptResponse: Hashable, Sendable {
    /// The decoded copy of what was sent.
    package enum Receipt: Hashable, Sendable {
        case app(AnswerAppReceipt)
        /// iOS 6 style: one transaction.
        case transaction(AnswerTransaction)

        /// Whose app it is of.
        package var bundleID: String? {
            switch self {
            case .app(let receipt): receipt.bundleID
            case .transaction(let transaction): transaction.bundleID
            }
        }
    }

    package let status: VerifyReceiptStatus?
    /// `Sandbox` or `Production`; absent from old answers.
    package let environment: AppleEnvironment?
    package let receipt: Receipt?
    /// An array for app receipts; the one object of an iOS 6 answer stands here alone.
    package let latestReceiptInfo: [AnswerTransaction]
    /// iOS 6 answers of status 21006 only.
    package let latestExpiredReceiptInfo: AnswerTransaction?
    /// Base64 of the newest receipt, made anew for each answer.
    package let latestReceipt: String?
    package let pendingRenewalInfo: [AnswerRenewal]
    /// Seen in few answers, in place of the members at the top.
    package let unifiedReceipt: UnifiedReceipt?
    /// For the internal data access errors.
    package let isRetryable: Bool?
    /// iOS 6 answers have the renewal of their one subscription at the top.
    package let renewal: AnswerRenewal?
    /// Members that have no field here, as they stand.
    package let others: [RawMember]

    package init(_ document: JSONDocument) throws(FormatFault) {
        var reader = AnswerReader(try document.members())
        status = try reader.number("status").map(VerifyReceiptStatus.init(rawValue:))
        environment = try reader.text("environment").map(AppleEnvironment.init(rawValue:))
        receipt = try reader.element("receipt").map { reader throws(FormatFault) in try Self.receipt(reader) }
        latestReceiptInfo = try AnswerTransaction.list(reader.elementsOrOne("latest_receipt_info"))
        latestExpiredReceiptInfo = try AnswerTransaction.list(reader.elementsOrOne("latest_expired_receipt_info")).first
        latestReceipt = try reader.text("latest_receipt")
        pendingRenewalInfo = try AnswerRenewal.list(reader.elements("pending_renewal_info"))
        unifiedReceipt = try UnifiedReceipt.optional(reader.element("unified_receipt"))
        let spelledWithHyphen = try reader.flag("is-retryable")
        let spelledWithLine = try reader.flag("is_retryable")
        isRetryable = spelledWithHyphen ?? spelledWithLine
        renewal = try Self.renewal(&reader)
        others = try reader.others()
    }

    private static func receipt(_ reader: AnswerReader) throws(FormatFault) -> Receipt {
        if reader.has("bid") || reader.has("transaction_id") {
            return .transaction(try AnswerTransaction(reader))
        }
        return .app(try AnswerAppReceipt(reader))
    }

    /// The members that `pending_renewal_info` would have, where an iOS 6 answer has them.
    private static func renewal(_ reader: inout AnswerReader) throws(FormatFault) -> AnswerRenewal? {
        guard reader.has("auto_renew_status") || reader.has("auto_renew_product_id") else { return nil }
        return try AnswerRenewal(taking: &reader)
    }
}

/// An app receipt as verifyReceipt decodes it.
package struct AnswerAppReceipt: Hashable, Sendable {
    /// `Production`, `ProductionVPP`, `ProductionSandbox`, `ProductionVPPSandbox`, of old `Sandbox`.
    package let receiptType: String?
    package let bundleID: String?
    package let applicationVersion: String?
    package let originalApplicationVersion: String?
    /// The app's number in the App Store, as ``appItemID``; 0 in sandbox.
    package let adamID: Int64?
    package let appItemID: Int64?
    package let downloadID: Int64?
    package let versionExternalIdentifier: Int64?
    package let receiptCreationDate: Int64?
    package let requestDate: Int64?
    package let originalPurchaseDate: Int64?
    package let preorderDate: Int64?
    /// Volume purchases.
    package let expirationDate: Int64?
    package let inApp: [AnswerTransaction]
    /// Members that have no field here, as they stand.
    package let others: [RawMember]

    init(_ reader: AnswerReader) throws(FormatFault) {
        var reader = reader
        receiptType = try reader.text("receipt_type")
        bundleID = try reader.text("bundle_id")
        applicationVersion = try reader.text("application_version")
        originalApplicationVersion = try reader.text("original_application_version")
        adamID = try reader.number("adam_id")
        appItemID = try reader.number("app_item_id")
        downloadID = try reader.number("download_id")
        versionExternalIdentifier = try reader.number("version_external_identifier")
        receiptCreationDate = try reader.moment("receipt_creation_date")
        requestDate = try reader.moment("request_date")
        originalPurchaseDate = try reader.moment("original_purchase_date")
        preorderDate = try reader.moment("preorder_date")
        expirationDate = try reader.moment("expiration_date")
        inApp = try AnswerTransaction.list(reader.elements("in_app"))
        others = try reader.others()
    }
}
