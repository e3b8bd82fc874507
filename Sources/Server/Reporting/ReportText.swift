import Pipeline
import Encoding
import PurchaseModel
import Verification

/// A report for people: the verdict first, then why, what it says, and what was checked.
///
/// Everything that comes out of a proof is shown with its control bytes escaped: a proof must not be able to write on
/// the terminal.
enum ReportText {
    static func lines(file: String, _ report: Report) -> String {
        var lines = ["\(printable(file)): \(report.verdict.rawValue) (\(report.reason.rawValue))"]
        if let detail = report.detail { lines.append("  why          \(printable(detail))") }
        if let difference = report.difference {
            lines.append(
                "  differs      \(difference.field): expected \(printable(difference.expected)),"
                    + " found \(printable(difference.found))"
            )
        }
        lines.append("  format       \(report.format.rawValue)")
        lines += claims(report)
        for check in report.checks {
            let detail = check.detail.map { ": \(printable($0))" } ?? ""
            lines.append("  check        \(check.name.rawValue) \(check.outcome.rawValue)\(detail)")
        }
        for certificate in report.certificates {
            let from = TransactionJSON.text(certificate.notBefore) ?? "?"
            let until = TransactionJSON.text(certificate.notAfter) ?? "?"
            lines.append("  certificate  \(printable(certificate.subject))")
            lines.append("               serial \(certificate.serial), valid \(from) to \(until)")
            lines.append("               sha256 \(Hexadecimal.encode(certificate.sha256))")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func claims(_ report: Report) -> [String] {
        let claims = report.claims
        let isProved = [.genuine, .notYours, .testSigned].contains(report.verdict)
        var lines: [String] = []
        if let bundleID = claims.bundleID { lines.append("  app          \(printable(bundleID))") }
        if let environment = claims.environment { lines.append("  environment  \(printable(environment.rawValue))") }
        if let signedAt = TransactionJSON.text(claims.signedAt) { lines.append("  signed       \(signedAt)") }
        if let notice = claims.notice {
            let subtype = notice.subtype.map { " \(printable($0))" } ?? ""
            lines.append("  notification \(printable(notice.type))\(subtype)")
        }
        if let renewal = claims.renewal {
            lines.append("  renewal of   \(renewal.originalID), \(printable(renewal.product.text))")
        }
        for transaction in claims.transactions { lines.append("  transaction  \(line(transaction))") }
        return isProved || lines.isEmpty ? lines : ["  it claims, and nobody proves:"] + lines
    }

    private static func line(_ transaction: Transaction) -> String {
        var parts = ["\(transaction.id) \(printable(transaction.product.text))"]
        if transaction.quantity != 1 { parts.append("x\(transaction.quantity)") }
        if let purchased = TransactionJSON.text(transaction.purchasedAt) { parts.append("bought \(purchased)") }
        if let expires = TransactionJSON.text(transaction.expiresAt) { parts.append("expires \(expires)") }
        if let revoked = TransactionJSON.text(transaction.revocation?.at) {
            let share = transaction.revocation?.share ?? Fulfilment.whole
            let part = share < Fulfilment.whole ? " \(PercentText.text(thousandths: share))" : ""
            parts.append("REVOKED\(part) \(revoked)")
        }
        if transaction.isUpgraded { parts.append("upgraded") }
        return parts.joined(separator: ", ")
    }

    /// What could move a cursor or hide text, as `\u{…}`.
    static func printable(_ text: String) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar.isShowable {
                shown.append(scalar)
            } else {
                shown.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
            }
        }
        return String(shown)
    }
}

extension Unicode.Scalar {
    /// False for control and format characters, and everything else that does more on a terminal than stand there.
    var isShowable: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate: false
        default: true
        }
    }
}
