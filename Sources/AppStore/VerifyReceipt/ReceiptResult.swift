package import PurchaseModel
package import Verification

/// What Apple said of a receipt.
package enum ReceiptResult: Sendable {
    /// Genuine, and for this app; nothing in it renews by itself.
    case valid(AnsweredReceipt)
    /// Genuine, with auto-renewable subscriptions, over or not: keep ``AnsweredReceipt/latestReceipt`` for the next time.
    case renewable(AnsweredReceipt)
    /// Genuine, an iOS 6 receipt of one subscription that is over (21006).
    case expired(AnsweredReceipt)
    /// Apple does not stand by it, or it is not this app's.
    case refused(ReceiptRefusal)
    /// Apple refuses what has a good signature: hold it, ask again, and let a person look.
    case disagreement(status: Int64)
    /// The shared secret is missing or wrong (21004); the receipt was not judged.
    case wrongSharedSecret
    /// Apple said nothing that counts. Ask again, not before the moment if there is one.
    case unavailable(ReceiptTrouble, retryAt: Timestamp?)

    /// The receipt, when Apple stands by it.
    package var receipt: AnsweredReceipt? {
        switch self {
        case .valid(let receipt), .renewable(let receipt), .expired(let receipt): receipt
        default: nil
        }
    }
}

/// A receipt by which Apple stands.
package struct AnsweredReceipt: Sendable {
    /// The store whose host answered.
    package let store: StoreEnvironment
    /// What the ledger may record.
    package let proof: Verified<Proof>
    /// What Apple will do next, one for each subscription.
    package let renewals: [Verified<Renewal>]
    /// The newest receipt of the same customer, decoded from base64: what to ask with the next time.
    package let latestReceipt: [UInt8]?

    package var transactions: [Transaction] { proof.fact.transactions }
}

/// Why a receipt counts for nothing.
package enum ReceiptRefusal: Equatable, Sendable {
    /// 21003.
    case notAuthentic
    /// 21002. Apple says it also of good ones when it has a passing trouble: ask again a few times before it counts.
    case malformed
    /// 21010: the account is gone.
    case accountNotFound
    /// One of 21100 to 21199 that Apple calls final.
    case rejected(status: Int64)
    /// Apple stands by it, but it is for another app, store or product, or cannot be read.
    case notOurs(Reason, detail: String?)
    /// Nothing was sent: there is no receipt in it.
    case empty

    /// Whether the same receipt may do later.
    package var mayPass: Bool { self == .malformed }
}

/// Why there is no word of Apple's.
package enum ReceiptTrouble: Equatable, Sendable {
    case noAnswer(AppStoreFailure)
    /// Such as 21005 and 21009.
    case status(Int64)
    /// Each host says that the receipt is the other's.
    case hostsDisagree
}
