import AppleFormats
import Encoding
package import PurchaseModel

/// What Apple can be asked about a proof that its bytes alone do not settle.
package enum AppleQuestion: Hashable, Sendable {
    /// A receipt, taken out of everything that it was wrapped in.
    case receipt([UInt8])
    case transaction(TransactionID)
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
        case .transactionID(let id): return .transaction(id)
        case .jws(let token):
            let claims = JWSVerifier.unprovedClaims(of: token)?.1
            return claims?.transactions.first.map { .transaction($0.id) }
        case .verifyReceiptResponse(let answer):
            let text = answer.latestReceipt ?? answer.unifiedReceipt?.latestReceipt
            return Self.question(text, try? AnswerTranslation.claims(of: answer))
        case .notificationV1(let notification):
            let text = notification.unifiedReceipt?.latestReceipt ?? notification.latestReceipt
            return Self.question(text, AnswerTranslation.claims(of: notification))
        }
    }

    /// The receipt that an answer carries says more than a number that stands in it.
    private static func question(_ receipt: String?, _ claims: Claims?) -> AppleQuestion? {
        if let receipt {
            var triage = Triage()
            switch try? triage.open(Array(receipt.utf8)) {
            case .appReceipt, .transactionReceipt: return .receipt(triage.content)
            default: break
            }
        }
        return claims?.transactions.first.map { .transaction($0.id) }
    }
}
