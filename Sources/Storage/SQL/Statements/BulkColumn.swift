/// A column that many rows are written to, or looked up by, at once.
struct BulkColumn: Sendable {
    /// PostgreSQL's types of parameters; a narrower column takes the value if it fits.
    enum Kind: String, Sendable {
        case integer = "bigint"
        case text
        case bytes = "bytea"
    }

    let name: String
    let kind: Kind

    static func integer(_ name: String) -> BulkColumn { BulkColumn(name: name, kind: .integer) }
    static func text(_ name: String) -> BulkColumn { BulkColumn(name: name, kind: .text) }
    static func bytes(_ name: String) -> BulkColumn { BulkColumn(name: name, kind: .bytes) }

    /// `$1::bigint[], $2::text[]` …: one array for each column, which `unnest` makes rows of.
    static func arrays(_ columns: [BulkColumn]) -> String {
        columns.enumerated().map { "$\($0.offset + 1)::\($0.element.kind.rawValue)[]" }.joined(separator: ", ")
    }

    static func names(_ columns: some Sequence<BulkColumn>) -> String {
        columns.map(\.name).joined(separator: ", ")
    }
}
