package import AppleFormats
import Encoding
package import PurchaseModel

/// verifyReceipt's answer about an app receipt, iOS 7 and later.
///
/// Source: Apple, *responseBody* and *responseBody.Receipt* of *App Store Receipts* (frozen at 1.7).
package struct ReceiptAnswer: Sendable {
    /// What was sent.
    package var receipt: AppReceipt
    package var environment: StoreEnvironment
    /// When the request is answered.
    package var now: Timestamp
    /// Whose it is; `nil` for a receipt without purchases, which may be anybody's.
    package var ledger: CustomerLedger?
    /// The newest app receipt, DER.
    package var latestReceipt: [UInt8] = []
    package var excludesOldTransactions = false

    package init(_ receipt: AppReceipt, _ environment: StoreEnvironment, at now: Timestamp) {
        self.receipt = receipt
        self.environment = environment
        self.now = now
    }

    /// Whether the answer speaks of renewals, and a password is needed.
    package var hasSubscriptions: Bool {
        receipt.purchases.contains { $0.productType == 3 || $0.expiresDate != nil }
    }

    package var payload: Payload {
        var payload = Payload()
        payload.set("status", 0)
        payload.set("environment", environment.answerName)
        payload["receipt"] = .object(receiptPayload)
        guard hasSubscriptions, let ledger else { return payload }
        payload["latest_receipt_info"] = .list(ledger.latestTransactions(excludesOld: excludesOldTransactions))
        payload.setReceipt("latest_receipt", latestReceipt)
        payload["pending_renewal_info"] = .list(ledger.pendingRenewals)
        return payload
    }

    private var receiptPayload: Payload {
        let sold = Dictionary((ledger?.transactions ?? []).map { ($0.id, $0) }) { first, _ in first }
        var payload = Payload()
        payload.set("receipt_type", receipt.kind)
        payload.set("adam_id", receipt.appAppleID ?? 0)
        payload.set("app_item_id", receipt.appAppleID ?? 0)
        payload.set("bundle_id", receipt.bundleID)
        payload.set("application_version", receipt.applicationVersion)
        payload.set("download_id", receipt.downloadID ?? 0)
        payload.set("version_external_identifier", receipt.versionExternalID ?? 0)
        payload.setMoment("receipt_creation_date", receipt.creationDate)
        payload.setMoment("request_date", now.milliseconds, isExact: true)
        payload.setMoment("original_purchase_date", receipt.originalPurchaseDate)
        payload.set("original_application_version", receipt.originalApplicationVersion)
        payload.setMoment("expiration_date", receipt.expirationDate)
        payload["in_app"] = .list(
            receipt.purchases.map { purchase in
                let id = receipt.string(purchase.transactionID).flatMap { TransactionID($0) }
                return .object(.inApp(purchase, in: receipt, id.flatMap { sold[$0] }))
            }
        )
        return payload
    }
}

extension Payload {
    /// A receipt as verifyReceipt takes and gives it: standard base64 in one line.
    mutating func setReceipt(_ name: String, _ bytes: [UInt8]) {
        set(name, String(decoding: Base64.encode(bytes, .standard, isPadded: true), as: UTF8.self))
    }
}

extension StoreEnvironment {
    /// Apple's word in answers and notifications.
    var answerName: String { self == .production ? "Production" : "Sandbox" }
}
