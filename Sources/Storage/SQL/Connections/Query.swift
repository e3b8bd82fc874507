/// One SQL statement, with parameters named `$1`, `$2` … A connection prepares it once and knows it by its identity,
/// so keep each in a static constant.
final class Query: Sendable {
    let text: String

    init(_ text: String) { self.text = text }
}
