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
}
