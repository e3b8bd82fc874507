/// The numbers of a table's rows, in the order in which they were inserted. Keep each in a static constant.
final class RowSequence: Sendable {
    /// SQLite numbers without gaps, since nobody else writes; PostgreSQL does not need to look.
    let last: Query

    init(of table: String) { last = Query("SELECT coalesce(max(sequence), 0) FROM \(table)") }
}
