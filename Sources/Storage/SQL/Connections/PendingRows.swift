/// Rows that were written by a transaction and not sent yet. No row of a table is in it twice: what one statement does
/// to a row a second time is undefined.
struct PendingRows {
    /// What is sent at once, and how many rows must then have been written.
    struct Batch {
        let statement: Query
        let columns: [BulkColumn]
        let rows: [[SQLValue]]
        let mustWriteAll: Bool
    }

    /// Beyond this a statement only grows longer, not cheaper.
    static let rowsMax = 1_024
    /// About how much one statement may carry.
    static let bytesMax = 4 * 1_024 * 1_024

    private struct Group {
        let table: String
        let statement: Query
        let columns: [BulkColumn]
        let key: [Int]
        let mustWriteAll: Bool
        var rows: [[SQLValue]] = []
    }

    private var groups: [Group] = []
    private var keys: [String: Set<[SQLValue]>] = [:]
    private var rowCount = 0
    private var byteCount = 0

    var isEmpty: Bool { groups.isEmpty }
    var isFull: Bool { rowCount >= Self.rowsMax || byteCount >= Self.bytesMax }

    /// - Returns: false when the table's row of this key waits already: send first.
    mutating func add(_ values: [SQLValue], _ insert: BulkInsert) -> Bool {
        let group = Group(
            table: insert.table,
            statement: insert.many,
            columns: insert.columns,
            key: insert.key,
            mustWriteAll: insert.mustInsertAll
        )
        return add(values, group)
    }

    /// - Returns: false when the table's row of this key waits already: send first.
    mutating func add(_ values: [SQLValue], _ update: BulkUpdate) -> Bool {
        let group = Group(
            table: update.table,
            statement: update.many,
            columns: update.columns,
            key: Array(0..<update.keyCount),
            mustWriteAll: true
        )
        return add(values, group)
    }

    /// Takes everything, in the order in which the statements were first used; the rows of each by their keys, so that
    /// two writers lock the same rows in the same order.
    mutating func take() -> [Batch] {
        defer { self = PendingRows() }
        return groups.map { group in
            let rows = group.rows.sorted { left, right in
                for place in group.key where left[place] != right[place] {
                    return SQLValue.precedes(left[place], right[place])
                }
                return false
            }
            return Batch(
                statement: group.statement,
                columns: group.columns,
                rows: rows,
                mustWriteAll: group.mustWriteAll
            )
        }
    }

    private mutating func add(_ values: [SQLValue], _ group: Group) -> Bool {
        precondition(values.count == group.columns.count, "a row has a value for each column")
        guard keys[group.table, default: []].insert(group.key.map { values[$0] }).inserted else { return false }
        let place = groups.firstIndex { $0.statement === group.statement } ?? groups.count
        if place == groups.count { groups.append(group) }
        groups[place].rows.append(values)
        rowCount += 1
        byteCount += values.reduce(0) { count, value in
            switch value {
            case .null: count + 4
            case .integer: count + 12
            case .text(let text): count + 4 + text.utf8.count
            case .bytes(let bytes): count + 4 + bytes.count
            }
        }
        return true
    }
}
