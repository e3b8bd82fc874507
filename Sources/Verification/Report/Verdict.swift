/// What was found out about a proof. Stable words; `docs/verdicts.md` lists each with its reasons.
package enum Verdict: String, Hashable, Sendable, CaseIterable {
    /// Signed under Apple's roots, and what was expected of it holds.
    case genuine
    /// The signature is good, or was not worth checking: it is for another app, environment, product or device.
    case notYours = "not_yours"
    /// Signed by Xcode, or under a root that only this server trusts.
    case testSigned = "test_signed"
    /// It says that Apple signed it, and Apple did not.
    case forged
    /// Not a proof of purchase in any format, or a broken one.
    case malformed
    /// The bytes alone do not tell: something named is missing, or nothing in it is signed.
    case undecidable
}

/// The formats of proof that are told apart. Stable words.
package enum ProofFormat: String, Hashable, Sendable, CaseIterable {
    case appReceipt = "app_receipt"
    case transactionReceipt = "transaction_receipt"
    case jwsTransaction = "jws_transaction"
    case jwsRenewalInfo = "jws_renewal_info"
    case jwsAppTransaction = "jws_app_transaction"
    case jwsNotification = "jws_notification"
    case verifyReceiptResponse = "verify_receipt_response"
    case notificationV1 = "notification_v1"
    case transactionID = "transaction_id"
    case unknown

    /// Whether nobody has signed what is written so: it only says what Apple may be asked about.
    package var isUnsigned: Bool {
        self == .transactionID || self == .verifyReceiptResponse || self == .notificationV1
    }
}
