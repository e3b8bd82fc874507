import Encoding
import PurchaseModel

/// What became of transactions, for another ledger of ours: there it is delivered by the next fence, and what waits goes on
/// waiting.
struct ExportedBooks {
    private var fulfilments: [TransactionKey: Fulfilment] = [:]
    private var ends: [ChainKey: Timestamp] = [:]

    /// - Parameter rows: of whole chains.
    init(_ rows: some Sequence<Fulfilment>) {
        for row in rows {
            fulfilments[row.key] = row
            // Receipts cut moments to whole seconds: the newest is before the end by more than that.
            let after = row.purchasedAt.advanced(by: .seconds(1))
            let end = max(after, row.booksClosedAt ?? after)
            ends[row.chain] = max(ends[row.chain] ?? end, end)
        }
    }

    /// Writes what became of a transaction, and until when its chain's books go: what was bought since, nobody has delivered.
    func write(_ recorded: RecordedTransaction, into json: inout JSONObjectWriter) {
        guard let fulfilment = fulfilments[recorded.key] else { return }
        json.object(ExportedFulfilment.name) { json in
            json.member("state", fulfilment.state.rawValue)
            json.member("reason", fulfilment.reason?.rawValue)
            if fulfilment.delivery != nil { json.member("fence", fulfilment.fence) }
            if fulfilment.isImported { json.member("imported", true) }
            if fulfilment.isOfHistory { json.member("of_history", true) }
            json.member("books_until", recorded.chains.compactMap { ends[$0] }.max())
        }
    }
}
