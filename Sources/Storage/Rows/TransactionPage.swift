package import PurchaseModel

/// A place in a listing of an app's transactions, which later inserts do not move: the last one that was listed. A
/// number of the row would tell how many there are of other apps.
package struct TransactionCursor: Hashable, Sendable {
    package let realm: Realm
    package let id: TransactionID

    package init(realm: Realm, id: TransactionID) {
        self.realm = realm
        self.id = id
    }

    init(_ recorded: RecordedTransaction) {
        self.init(realm: recorded.realm, id: recorded.id)
    }
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
