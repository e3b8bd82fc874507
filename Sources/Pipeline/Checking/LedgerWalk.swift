import PurchaseModel
import Storage

/// Goes along a table row by row, page by page.
struct LedgerWalk<Row: Hashable & Sendable> {
    private let fetch: (WalkPlace?) throws(StoreFailure) -> WalkPage<Row>
    private var rows: ArraySlice<Row> = []
    private var next: WalkPlace?
    private var isOver = false
    /// What could not be read since somebody last asked.
    private var unreadable: [String] = []

    init(_ fetch: @escaping (WalkPlace?) throws(StoreFailure) -> WalkPage<Row>) { self.fetch = fetch }

    /// The row that comes next, without going on.
    mutating func peek() throws(StoreFailure) -> Row? {
        while rows.isEmpty, !isOver { try turn() }
        return rows.first
    }

    mutating func pop() throws(StoreFailure) -> Row? {
        _ = try peek()
        return rows.popFirst()
    }

    /// The rest of a page, or the next one; empty at the end.
    mutating func page() throws(StoreFailure) -> [Row] {
        _ = try peek()
        defer { rows = [] }
        return Array(rows)
    }

    mutating func takeUnreadable() -> [String] {
        defer { unreadable = [] }
        return unreadable
    }

    private mutating func turn() throws(StoreFailure) {
        let page = try fetch(next)
        rows = page.rows[...]
        unreadable += page.unreadable
        next = page.next
        isOver = page.next == nil
    }
}

/// What was looked up by keys. A row that cannot be read is none that is missing.
struct LookedUp<Key: Hashable, Row> {
    private(set) var rows: [Key: [Row]] = [:]
    private(set) var unreadable: Set<Key> = []

    /// - Parameters:
    ///   - keys: each may stand there often.
    ///   - key: what a row was found by.
    ///   - ask: fails as broken for a row that cannot be read.
    /// - Throws: `StoreFailure`, any other.
    init(
        _ keys: some Sequence<Key>,
        by key: (Row) -> Key,
        _ ask: ([Key]) throws(StoreFailure) -> [Row]
    ) throws(StoreFailure) {
        let keys = Array(Set(keys))
        guard !keys.isEmpty else { return }
        do throws(StoreFailure) {
            rows = Dictionary(grouping: try ask(keys), by: key)
        } catch .broken {
            for one in keys {
                do throws(StoreFailure) {
                    rows[one] = try ask([one])
                } catch .broken {
                    unreadable.insert(one)
                }
            }
        }
    }

    subscript(key: Key) -> Row? { rows[key]?.first }
}
