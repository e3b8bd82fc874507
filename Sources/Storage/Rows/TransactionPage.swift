package import PurchaseModel

/// A place in a listing of transactions, which later inserts do not move.
package struct TransactionCursor: Hashable, Sendable {
    /// The sequence number of the last transaction that was listed.
    package let sequence: Int64

    package init(sequence: Int64) { self.sequence = sequence }
}

/// In which order a listing goes: by when we first learned of each transaction.
package enum ListingOrder: Hashable, Sendable, CaseIterable {
    case newestFirst
    case oldestFirst
}

/// Some of the transactions of a listing, and where the rest begins.
package struct TransactionPage: Hashable, Sendable {
    /// The most that one page holds, so that no read keeps its snapshot for long.
    package static let limitMax = 500

    package var transactions: [RecordedTransaction]
    /// `nil` when there are no more.
    package var next: TransactionCursor?

    package init(transactions: [RecordedTransaction] = [], next: TransactionCursor? = nil) {
        self.transactions = transactions
        self.next = next
    }
}
