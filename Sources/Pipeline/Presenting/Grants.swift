import PurchaseModel

/// What was given for purchases that have several numbers, found by any of them.
struct Grants {
    /// To the second: receipts know no more.
    private enum Moment: Hashable {
        case any
        case bought(Int64)
        case ends(Int64)
    }

    private struct Purchase: Hashable {
        let chain: ChainKey
        let product: ProductID
        let moment: Moment
    }

    private struct Grant {
        let row: Fulfilment
        /// The newest has the lowest.
        let place: Int

        func precedes(_ other: Grant) -> Bool {
            row.isInForce == other.row.isInForce ? place < other.place : row.isInForce
        }
    }

    private var best: [Purchase: Grant] = [:]

    /// - Parameters:
    ///   - known: the newest first.
    ///   - given: by the numbers.
    init(_ known: [RecordedTransaction], _ given: [TransactionID: Fulfilment]) {
        // Mostly each purchase has one number, and nobody asks.
        guard given.values.contains(where: { $0.reason == .alreadyGranted }) else { return }
        for (place, recorded) in known.enumerated() {
            guard let row = given[recorded.id], row.unit != nil else { continue }
            let (sold, grant) = (recorded.transaction, Grant(row: row, place: place))
            var moments = [Moment.any, .bought(sold.purchasedAt.seconds)]
            if let end = sold.expiresAt { moments.append(.ends(end.seconds)) }
            for moment in moments {
                let purchase = Purchase(chain: row.chain, product: sold.product, moment: moment)
                if best[purchase].map(grant.precedes) ?? true { best[purchase] = grant }
            }
        }
    }

    /// What was given for the same purchase by another number, the newest that is in force first.
    func row(of transaction: Transaction, in chain: ChainKey) -> Fulfilment? {
        func grant(_ moment: Moment) -> Grant? {
            best[Purchase(chain: chain, product: transaction.product, moment: moment)]
        }
        guard let end = transaction.expiresAt else { return grant(.any)?.row }
        let (bought, ending) = (grant(.bought(transaction.purchasedAt.seconds)), grant(.ends(end.seconds)))
        guard let bought, let ending else { return (bought ?? ending)?.row }
        return (ending.precedes(bought) ? ending : bought).row
    }
}
