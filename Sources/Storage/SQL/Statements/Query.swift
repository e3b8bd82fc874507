/// One SQL statement, with parameters named `$1`, `$2` … A connection prepares it once and knows it by its identity,
/// so keep each in a static constant.
final class Query: Sendable {
    /// What SQLite reads.
    let text: String
    /// What PostgreSQL reads.
    let postgresql: String

    /// - Parameters:
    ///   - text: for both databases.
    ///   - postgresql: where the two must differ.
    init(_ text: String, postgresql: String? = nil) {
        self.text = text
        self.postgresql = postgresql ?? text
    }

    /// Rows that SQLite is told by which index to find. A table is never looked at to learn how its keys are spread, and
    /// where it has no row ids, SQLite takes its own key before an index that begins alike: then it walks along all of an app.
    ///
    /// - Parameters:
    ///   - index: of the one table that the text asks.
    ///   - text: with what stands behind that table's name.
    convenience init(by index: String, _ text: (String) -> String) {
        self.init(text("INDEXED BY \(index)"), postgresql: text(""))
    }
}
