import Pipeline
import Encoding
import PurchaseModel
import Storage
import Verification

/// What a ledger holds, for people. Whatever came from outside is shown with its control bytes escaped.
enum LedgerText {
    static func refusals(_ totals: [RefusalTotal], _ samples: [RefusalSample]) -> String {
        guard !totals.isEmpty || !samples.isEmpty else { return "nothing refused\n" }
        var rows = [["count", "app", "reason", "verdict", "last in the hour of"]]
        rows += totals.map { total in
            [
                String(total.count), total.app?.text ?? "-", total.reason, verdict(of: total.reason),
                TransactionJSON.text(total.last.start) ?? "-",
            ]
        }
        var text = "refused: \(totals.reduce(0) { $0 + $1.count })\n" + table(rows)
        guard !samples.isEmpty else { return text }
        text += "\nthe last ones, newest first\n"
        text += table(
            [["received", "app", "reason", "customer", "bytes", "sha256"]]
                + samples.map { sample in
                    [
                        TransactionJSON.text(sample.receivedAt) ?? "-", sample.app?.text ?? "-", sample.reason,
                        sample.customer?.text ?? "-", String(sample.bytesInAll),
                        Hexadecimal.encode(sample.digest.bytes),
                    ]
                }
        )
        return text
    }

    static func evidence(_ found: [RecordedEvidence]) -> String {
        guard !found.isEmpty else { return "no such transaction\n" }
        return found.map { evidence in
            let recorded = evidence.recorded
            let wall = recorded.realm.isTestSigned ? ", test-signed" : ""
            let title = "\(recorded.id) \(recorded.transaction.product), \(recorded.realm.environment)\(wall)"
            return ReportText.printable(title) + "\n"
                + table(
                    [["received", "format", "verdict", "customer", "bytes", "sha256"]]
                        + evidence.proofs.map { proof in
                            [
                                TransactionJSON.text(proof.receivedAt) ?? "-", proof.format, proof.verdict,
                                proof.customer?.text ?? "-", String(proof.proof.count),
                                Hexadecimal.encode(proof.digest.bytes),
                            ]
                        }
                )
        }.joined(separator: "\n")
    }

    static func certificates(_ seen: [SeenCertificate]) -> String {
        guard !seen.isEmpty else { return "no certificate seen\n" }
        return table(
            [["first seen", "role", "vouched by", "until", "subject", "issuer", "serial"]]
                + seen.map { certificate in
                    [
                        TransactionJSON.text(certificate.firstSeenAt) ?? "-", certificate.role, certificate.vouchedBy,
                        TransactionJSON.text(certificate.notAfter) ?? "-", certificate.subject, certificate.issuer,
                        certificate.serial,
                    ]
                }
        )
    }

    /// What a reason's word says of the proof; a word of another version says nothing.
    static func verdict(of reason: String) -> String { Reason(rawValue: reason)?.verdict.rawValue ?? "-" }

    /// Rows whose columns begin under each other; the first one names them.
    private static func table(_ rows: [[String]]) -> String {
        let shown = rows.map { $0.map(ReportText.printable) }
        let widths = (0..<(shown.first?.count ?? 0)).map { column in shown.map { $0[column].utf8.count }.max() ?? 0 }
        return shown.map { row in
            let cells = zip(row.dropLast(), widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.utf8.count)
            }
            return "  " + (cells + row.suffix(1)).joined(separator: "  ") + "\n"
        }.joined()
    }
}
