import AppleFormats
import PurchaseModel

/// Apple's unsigned answers in our own words: for the operator's eyes, and as a hint of what to ask for. Nothing in
/// them is proved.
enum AnswerTranslation {
    static func claims(of answer: VerifyReceiptResponse) throws(Refusal) -> Claims {
        var claims = Claims()
        claims.environment = answer.environment.map { StoreEnvironment(apple: $0.rawValue) }
        var entries: [AnswerTransaction] = []
        switch answer.receipt {
        case .app(let receipt):
            claims.bundleID = receipt.bundleID
            claims.environment = claims.environment ?? receipt.receiptType.map { StoreEnvironment(apple: $0) }
            claims.appleID = receipt.appItemID.flatMap { $0 == 0 ? nil : $0 }
            claims.signedAt = receipt.receiptCreationDate.map(Timestamp.init(milliseconds:))
            entries = receipt.inApp
        case .transaction(let transaction):
            claims.bundleID = transaction.bundleID
            entries = [transaction]
        case nil: break
        }
        entries.append(contentsOf: answer.latestReceiptInfo)
        if let expired = answer.latestExpiredReceiptInfo { entries.append(expired) }
        claims.transactions = transactions(entries)
        guard !claims.transactions.isEmpty else {
            let status = answer.status.map { "status \($0.rawValue)" } ?? "no status"
            throw Refusal(.answerWithoutPurchase, "an answer without a purchase: \(status)")
        }
        return claims
    }

    static func claims(of notification: NotificationV1) -> Claims {
        var claims = Claims()
        claims.bundleID = notification.bundleID
        claims.environment =
            notification.environment.map { StoreEnvironment(apple: $0) }
            ?? (notification.unifiedReceipt?.environment).map { StoreEnvironment(apple: $0.rawValue) }
        var entries = notification.unifiedReceipt?.latestReceiptInfo ?? []
        entries.append(contentsOf: notification.latestReceiptInfo)
        if let expired = notification.latestExpiredReceiptInfo { entries.append(expired) }
        claims.transactions = transactions(entries)
        return claims
    }

    /// Each number once, as it stands first; what cannot be read as a transaction is left out, since nothing rests on
    /// it.
    private static func transactions(_ entries: [AnswerTransaction]) -> [Transaction] {
        var seen: Set<TransactionID> = []
        return entries.compactMap { entry in
            guard let transaction = entry.transaction(), seen.insert(transaction.id).inserted else { return nil }
            return transaction
        }
    }
}
