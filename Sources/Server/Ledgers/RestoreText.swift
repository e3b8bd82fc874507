import Pipeline

/// What `assay restore` says to people once a copy is the ledger: what Apple does not tell again, and people do.
enum RestoreText {
    private static let rows = [
        ("keys", "those revoked or rotated since open again, with the secrets of then; those made since open nothing"),
        ("accounts", "of the dashboard: those removed since are back, with the roles and passwords of then"),
        ("webhooks", "endpoints deleted since are back, with the addresses and secrets of then; new ones are gone"),
        ("by hand", "transfers, adjustments and grants since are gone; neither apps nor reconcile bring them back"),
    ]

    static func text(_ result: CheckLedger.Result, to folder: String) -> String {
        let newest = TransactionJSON.text(result.findings?.newestProofAt).map { ", whose newest proof is of \($0)" }
        var text = "restored to \(folder)\n  look through what people have changed since the copy\(newest ?? ""):\n"
        for (name, what) in rows {
            text += "  " + name + String(repeating: " ", count: 15 - name.utf8.count) + what + "\n"
        }
        return text
    }
}
