import PurchaseModel

/// What will happen by itself, in order of its moments; of one moment, in order of its being planned.
struct Agenda<Event: Sendable>: Sendable {
    struct Item: Sendable {
        let at: Timestamp
        let number: UInt64
        let event: Event
    }

    /// A binary heap.
    private var items: [Item] = []
    private var planned: UInt64 = 0

    var next: Timestamp? { items.first?.at }

    mutating func plan(_ event: Event, at moment: Timestamp) {
        planned += 1
        items.append(Item(at: moment, number: planned, event: event))
        var child = items.count - 1
        while child > 0, Self.isBefore(items[child], items[(child - 1) / 2]) {
            items.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Takes out the first that is due.
    mutating func take(until moment: Timestamp) -> Item? {
        guard let first = items.first, first.at <= moment else { return nil }
        let last = items.removeLast()
        if !items.isEmpty {
            items[0] = last
            sink()
        }
        return first
    }

    private mutating func sink() {
        var parent = 0
        while true {
            let left = 2 * parent + 1
            guard left < items.count else { return }
            let right = left + 1
            let child = right < items.count && Self.isBefore(items[right], items[left]) ? right : left
            guard Self.isBefore(items[child], items[parent]) else { return }
            items.swapAt(child, parent)
            parent = child
        }
    }

    private static func isBefore(_ one: Item, _ other: Item) -> Bool {
        one.at == other.at ? one.number < other.number : one.at < other.at
    }
}

/// What the store does by itself.
enum StoreEvent: Hashable, Sendable {
    /// Paid service ends: a renewal, or an end.
    case periodEnds(line: TransactionID)
    case graceEnds(line: TransactionID)
    case retryEnds(line: TransactionID)
    /// The merchant's time to answer about a refund is over.
    case refundIsDecided(TransactionID)
    case massExtensionRuns(Int)
}
