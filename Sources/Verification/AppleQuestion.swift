import AppleFormats
import Encoding
package import PurchaseModel

/// What Apple can be asked about a proof that its bytes alone do not settle.
package enum AppleQuestion: Hashable, Sendable {
    /// A receipt, taken out of everything that it was wrapped in.
    case receipt([UInt8])
    /// Numbers that stand in it, each once, in its order; at least one, and no more than ``transactionsMax``.
    case transactions([TransactionID])

    /// Each is a call to Apple, and whoever writes an answer of his own can write any number of them.
    package static let transactionsMax = 50

    fileprivate init?(_ claims: Claims?, or others: [TransactionID] = []) {
        var seen: Set<TransactionID> = []
        let claimed = (claims?.transactions ?? []).map(\.id)
        let numbers = (claimed.isEmpty ? others : claimed).filter { seen.insert($0).inserted }
        guard !numbers.isEmpty else { return nil }
        self = .transactions(Array(numbers.prefix(Self.transactionsMax)))
    }
}

extension Verifier {
    /// Finds what to ask Apple about a submission.
    ///
    /// - Returns: `nil` for bytes in which there is neither a receipt nor a number.
    package func question(about bytes: [UInt8]) -> AppleQuestion? {
        var triage = Triage()
        guard let evidence = try? triage.open(bytes) else { return nil }
        switch evidence {
        case .appReceipt, .transactionReceipt: return .receipt(triage.content)
        case .transactionID(let id): return .transactions([id])
        case .jws(let token):
            return AppleQuestion(JWSVerifier.unprovedClaims(of: token)?.1)
        case .verifyReceiptResponse(let answer):
            let text = answer.latestReceipt ?? answer.unifiedReceipt?.latestReceipt
            return Self.question(text, try? AnswerTranslation.claims(of: answer))
        case .notificationV1(let notification):
            let text = notification.unifiedReceipt?.latestReceipt ?? notification.latestReceipt
            return Self.question(text, AnswerTranslation.claims(of: notification), or: notification.subscriptions)
        }
    }

    /// What a submission is about, in whatever it was wrapped: of what is signed its bytes, of the rest what Apple can be asked
    /// about it. Two that are about the same are decided alike.
    ///
    /// - Returns: bytes to tell it by; a number's are its digits.
    package func matter(of bytes: [UInt8]) -> [UInt8] {
        var triage = Triage()
        switch try? triage.open(bytes) {
        case .appReceipt, .transactionReceipt, .jws: return triage.content
        case .transactionID, .verifyReceiptResponse, .notificationV1, nil: break
        }
        return switch question(about: bytes) {
        case .transactions(let numbers): Array(numbers.sorted().map(\.description).joined(separator: ",").utf8)
        // Whoever has only the answer around a receipt is decided by Apple alone.
        case .receipt(let receipt): Array("answer,".utf8) + receipt
        case nil: bytes
        }
    }

    /// Whether nobody has signed a submission: a number, an answer of verifyReceipt, a notification of version 1.
    package func isUnsigned(_ bytes: [UInt8]) -> Bool {
        var triage = Triage()
        return switch try? triage.open(bytes) {
        case .transactionID, .verifyReceiptResponse, .notificationV1: true
        case .appReceipt, .transactionReceipt, .jws, nil: false
        }
    }

    /// Whether a submission shows no more than that somebody knows the numbers of some purchases, or has guessed them: nobody
    /// has signed it, and no receipt stands in it that Apple could judge.
    package func onlyNames(_ bytes: [UInt8]) -> Bool {
        guard isUnsigned(bytes) else { return false }
        if case .receipt = question(about: bytes) { return false }
        return true
    }

    /// The receipt that an answer carries says more than the numbers that stand in it, and those more than those of
    /// subscriptions that it only names.
    private static func question(
        _ receipt: String?,
        _ claims: Claims?,
        or others: [TransactionID] = []
    ) -> AppleQuestion? {
        if let receipt {
            var triage = Triage()
            switch try? triage.open(Array(receipt.utf8)) {
            case .appReceipt, .transactionReceipt: return .receipt(triage.content)
            default: break
            }
        }
        return AppleQuestion(claims, or: others)
    }
}

extension NotificationV1 {
    /// By their originals: the one that it is about, or else those whose renewal is pending.
    fileprivate var subscriptions: [TransactionID] {
        if let original = originalTransactionID.flatMap({ TransactionID($0) }) { return [original] }
        return (unifiedReceipt?.pendingRenewalInfo ?? []).compactMap(\.originalTransactionID)
            .compactMap { TransactionID($0) }
    }
}
