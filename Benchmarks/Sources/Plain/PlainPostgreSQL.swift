import PurchaseModel

/// libpq and nothing else: the statements that write purchases, prepared once, each with arrays that lie ready in the
/// server's binary format. What a store can reach at best.
final class PlainPostgreSQL: PlainLedger {
    /// One commit: what each statement is given.
    struct Batch {
        fileprivate let purchases: Int
        fileprivate let find: PlainArrays
        fileprivate let rows: [PlainArrays]
        fileprivate let head: PlainArrays
        fileprivate let sums: PlainArrays
    }

    private struct Column {
        let name: String
        let kind: PlainArrays.Kind
    }

    private let link: PostgreSQLLink
    /// The row where this writer notes its last commit.
    private var writer = ""

    init(url: String, schema: String) throws { link = try PostgreSQLLink(url: url, schema: schema) }

    func run(_ script: String) throws { try link.run(script) }
    func texts(_ question: String) throws -> [[String?]] { try link.texts(question) }
    func columns(of table: String) throws -> [String] { try described(table).map(\.name) }

    func key(of table: String) throws -> [String] {
        try texts(
            """
            SELECT attname FROM pg_index
            CROSS JOIN LATERAL unnest(indkey::smallint[]) WITH ORDINALITY AS k (number, place)
            JOIN pg_attribute ON attrelid = indrelid AND attnum = k.number
            WHERE indrelid = '\(table)'::regclass AND indisprimary ORDER BY k.place
            """
        ).compactMap { $0[0] }
    }

    func tables() throws -> [String] {
        try texts("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()").compactMap { $0[0] }
    }

    func begin() throws {
        if try texts("SELECT 1 FROM apps").isEmpty { try moveFeed(to: 0) }
        let row = try texts("INSERT INTO writers (id) SELECT nextval('batches') RETURNING id")
        writer = row.first?.first.flatMap(\.self) ?? ""
        try link.prepare("app", "SELECT code FROM apps WHERE name = '\(PurchaseWork.app.text)'")
        let wanted = try columns(of: PurchaseTables.transactions).joined(separator: ", ")
        try link.prepare(
            "find",
            """
            SELECT key.place, found.* FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])
            WITH ORDINALITY AS key (k1, k2, k3, place) CROSS JOIN LATERAL (SELECT \(wanted) FROM transactions
            WHERE app = key.k1 AND transaction_id = key.k2 AND realm = key.k3 OFFSET 0) AS found
            """
        )
        for table in PurchaseTables.all {
            let key = try key(of: table).joined(separator: ", ")
            try link.prepare(table, try insertion(table, try described(table)) + " ON CONFLICT (\(key)) DO NOTHING")
        }
        try link.prepare(
            "head",
            """
            INSERT INTO event_heads (app, last_position) VALUES ($1::bigint, $2::bigint) ON CONFLICT (app)
            DO UPDATE SET last_position = event_heads.last_position + excluded.last_position RETURNING last_position
            """
        )
        let (figures, key) = (PurchaseTables.figures, try key(of: PurchaseTables.figures))
        try link.prepare(
            figures,
            try insertion(figures, try described(figures, only: key + [PurchaseTables.amount]))
                + " ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE SET amount = figures.amount + excluded.amount"
        )
    }

    func record(_ batch: Batch) throws {
        let begun = try link.texts("BEGIN ISOLATION LEVEL READ COMMITTED; SELECT nextval('batches')")
        guard let number = begun.first?.first ?? nil else { throw BenchmarkFailure("no number for a commit") }
        try link.run(prepared: "app", PlainArrays())
        try link.run(prepared: "find", batch.find)
        for (table, rows) in zip(PurchaseTables.all, batch.rows) {
            if table == "events" { try link.run(prepared: "head", batch.head) }
            let written = try link.run(prepared: table, rows)
            guard written == rows.rows else { throw BenchmarkFailure("\(table): \(written) of \(rows.rows) are new") }
        }
        try link.run(prepared: PurchaseTables.figures, batch.sums)
        try link.run(
            """
            UPDATE writers SET batch = CASE WHEN batch < \(number) THEN \(number) ELSE 1 / (batch - batch) END,
                transactions = transactions + \(batch.purchases), evidence = evidence + \(batch.purchases),
                submissions = submissions + 0 WHERE id = \(writer); COMMIT
            """
        )
    }
}

// What the store wrote, made ready to be written again.
extension PlainPostgreSQL {
    func batches(of size: Int, adding sums: [[PlainSum]]) throws -> [Batch] {
        let tables = try PurchaseTables.all.map { (name: $0, columns: try described($0)) }
        func columns(_ table: String) -> [Column] { tables.first { $0.name == table }?.columns ?? [] }
        let found = try link.values(
            PurchaseTables.question { table, row in
                columns(table).map { $0.kind == .integer ? "CAST(\(row).\($0.name) AS bigint)" : "\(row).\($0.name)" }
            }
        )
        // A purchase's row is cut into those of its tables.
        let names = [PurchaseTables.evidence, PurchaseTables.transactions] + PurchaseTables.others.map(\.table)
        var starts: [(table: String, start: Int)] = []
        for name in names { starts.append((name, (starts.last.map { $0.start + columns($0.table).count }) ?? 0)) }
        let figures = try described(
            PurchaseTables.figures,
            only: try key(of: PurchaseTables.figures) + [PurchaseTables.amount]
        )
        return try zip(stride(from: 0, to: found.count, by: size), sums).map { start, sums in
            let purchases = found[start..<min(start + size, found.count)]
            let rows = try tables.map { table in
                let cuts = starts.filter { $0.table == table.name }
                let rows = cuts.flatMap { cut in
                    purchases.map { Array($0[cut.start..<cut.start + table.columns.count]) }
                }
                return (columns: table.columns, rows: Self.sorted(rows, try places(of: table.name, table.columns)))
            }
            let keys = rows[1].columns.indices.filter {
                ["app", "transaction_id", "realm"].contains(rows[1].columns[$0].name)
            }
            return Batch(
                purchases: purchases.count,
                find: Self.arrays(keys.map { rows[1].columns[$0] }, rows[1].rows.map { row in keys.map { row[$0] } }),
                rows: rows.map { Self.arrays($0.columns, $0.rows) },
                head: Self.head(app: rows[1].rows.first?[keys[0]], events: purchases.count),
                sums: Self.arrays(figures, sums.map { $0.key.map(Self.bytes) + [PlainArrays.bytes($0.amount)] })
            )
        }
    }

    private static func head(app: [UInt8]??, events purchases: Int) -> PlainArrays {
        var head = PlainArrays()
        head.append(Int64((app.flatMap(\.self) ?? []).reduce(0) { $0 << 8 | Int64($1) }))
        head.append(Int64(purchases * PurchaseTables.eventsOfPurchase))
        return head
    }

    /// Where the columns of a table's key stand.
    private func places(of table: String, _ columns: [Column]) throws -> [Int] {
        try key(of: table).compactMap { name in columns.firstIndex { $0.name == name } }
    }

    /// By their keys, as the store sends them. The numbers in them are positive, so that their bytes sort as they do.
    private static func sorted(_ rows: [[[UInt8]?]], _ key: [Int]) -> [[[UInt8]?]] {
        rows.sorted { left, right in
            for place in key where left[place] != right[place] {
                return (left[place] ?? []).lexicographicallyPrecedes(right[place] ?? [])
            }
            return false
        }
    }

    private static func arrays(_ columns: [Column], _ rows: [[[UInt8]?]]) -> PlainArrays {
        var arrays = PlainArrays()
        for (place, column) in columns.enumerated() { arrays.append(column.kind, rows.map { $0[place] }) }
        return arrays
    }

    private static func bytes(_ value: PlainKey) -> [UInt8]? {
        switch value {
        case .integer(let number): PlainArrays.bytes(number)
        case .text(let text): Array(text.utf8)
        }
    }

    private func insertion(_ table: String, _ columns: [Column]) throws -> String {
        let arrays = columns.enumerated().map { "$\($0.offset + 1)::\($0.element.kind.rawValue)[]" }
        return """
            INSERT INTO \(table) (\(columns.map(\.name).joined(separator: ", ")))
            SELECT * FROM unnest(\(arrays.joined(separator: ", ")))
            """
    }

    private func described(_ table: String, only names: [String]? = nil) throws -> [Column] {
        let columns = try texts(
            """
            SELECT attname, format_type(atttypid, NULL) FROM pg_attribute
            WHERE attrelid = '\(table)'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum
            """
        ).map { row in
            let kind: PlainArrays.Kind =
                switch row[1] ?? "" {
                case "smallint", "integer", "bigint": .integer
                case "bytea": .bytes
                default: .text
                }
            return Column(name: row[0] ?? "", kind: kind)
        }
        guard let names else { return columns }
        return names.compactMap { name in columns.first { $0.name == name } }
    }
}
