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

/// What a submission is about: of what is signed its bytes, of the rest what Apple can be asked about it.
package struct Matter: Hashable, Sendable {
    /// To tell it by; of numbers their digits, the smallest first.
    package var bytes: [UInt8]
    /// Whether it shows no more than that somebody knows the numbers of some purchases, or has guessed them: nobody has signed
    /// it, and no receipt stands in it that Apple could judge.
    package var onlyNames = false
}

extension Verifier {
    /// Finds what to ask Apple about a submission.
    ///
    /// - Returns: `nil` for bytes in which there is neither a receipt nor a number.
    package func question(about bytes: [UInt8]) -> AppleQuestion? {
        var triage = Triage()
        guard let evidence = try? triage.open(bytes) else { return nil }
        return Self.question(evidence, triage.content)
    }

    /// What a submission is about, in whatever it was wrapped.
    package func matter(of bytes: [UInt8]) -> Matter {
        var triage = Triage()
        guard let evidence = try? triage.open(bytes) else { return Matter(bytes: bytes) }
        guard triage.format.isUnsigned else { return Matter(bytes: triage.content) }
        return switch Self.question(evidence, triage.content) {
        case .transactions(let numbers):
            Matter(bytes: Array(numbers.sorted().map(\.description).joined(separator: ",").utf8), onlyNames: true)
        // Whoever has only the answer around a receipt is decided by Apple alone.
        case .receipt(let receipt): Matter(bytes: Array("answer,".utf8) + receipt)
        case nil: Matter(bytes: bytes, onlyNames: true)
        }
    }

    private static func question(_ evidence: Evidence, _ content: [UInt8]) -> AppleQuestion? {
        switch evidence {
        case .appReceipt, .transactionReceipt: return .receipt(content)
        case .transactionID(let id): return .transactions([id])
        case .jws(let token):
            return AppleQuestion(JWSVerifier.unprovedClaims(of: token)?.1)
        case .verifyReceiptResponse(let answer):
            let text = answer.latestReceipt ?? answer.unifiedReceipt?.latestReceipt
            return question(text, try? AnswerTranslation.claims(of: answer))
        case .notificationV1(let notification):
            let text = notification.unifiedReceipt?.latestReceipt ?? notification.latestReceipt
            return question(text, AnswerTranslation.claims(of: notification), or: notification.subscriptions)
        }
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
