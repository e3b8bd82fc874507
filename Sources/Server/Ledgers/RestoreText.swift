import Pipeline

/// What `assay restore` says to people once a copy is the ledger: what Apple does not tell again, and people or the shop's
/// server do.
enum RestoreText {
    private static let rows = [
        ("keys", "those revoked or rotated since open again, with the secrets of then; those made since open nothing"),
        ("accounts", "of the dashboard: those removed since are back, with the roles and passwords of then"),
        ("webhooks", "endpoints deleted since are back, with the addresses and secrets of then; new ones are gone"),
        ("by hand", "transfers, adjustments and grants since are gone; neither apps nor reconcile bring them back"),
        ("consents", "withdrawn since count again, and Apple would be sent that customer's data: withdraw them again"),
        ("balances", "used since are whole again: have the shop use them again, once their purchases are back"),
        ("requests", "for refunds declined since are answered: decline them while consumption.answer is false"),
        ("orders", "placed since are gone, and a purchase that needs one waits for ever: place them again"),
        ("events", "their ids and sequences, and fences, are given again: have those forgotten that were seen"),
    ]

    static func text(_ result: CheckLedger.Result, to folder: String) -> String {
        let newest = TransactionJSON.text(result.findings?.newestProofAt).map { ", whose newest proof is of \($0)" }
        var text = "restored to \(folder)\n"
        text += "  look through what people and the shop have changed since the copy\(newest ?? ""):\n"
        for (name, what) in rows {
            text += "  " + name + String(repeating: " ", count: 15 - name.utf8.count) + what + "\n"
        }
        return text
    }
}
