import Storage
import TestSupport
import Testing

/// How PostgreSQL means to find rows while it knows nothing of a table, as in each young ledger: its sessions keep such a plan
/// until the table is analyzed, a minute and many rows later.
@Suite(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"))
struct PostgreSQLPlanTests {
    @Test func whoAsksByAKeyIsAnsweredByItsIndex() async throws {
        try await PostgreSQLServer.withSchema { schema in
            await (try PostgreSQLStore.open(PostgreSQLServer.settings(schema: schema))).close()
            let keys = try TestDatabase.query(Self.primaryKeys(of: schema)).map {
                $0.split(separator: "|").map(String.init)
            }
            #expect(keys.count > 30)
            for key in keys {
                let (table, name, columns, types) = (
                    key[0], key[1], key[2].split(separator: " "), key[3].split(separator: "/")
                )
                let arrays = types.map { "NULL::\($0)[]" }.joined(separator: ", ")
                let names = columns.indices.map { "k\($0)" }
                // Who shares a chain is asked by the chain.
                let asked = table == "sharers" ? columns.prefix(3) : columns[...]
                let condition = zip(asked, names).map { "\($0) = key.\($1)" }.joined(separator: " AND ")
                let plan = try TestDatabase.query(
                    """
                    EXPLAIN SELECT key.place, found.*
                    FROM unnest(\(arrays)) WITH ORDINALITY AS key (\(names.joined(separator: ", ")), place)
                    CROSS JOIN LATERAL (SELECT * FROM \(schema).\(table) WHERE \(condition) OFFSET 0) AS found
                    """
                )
                #expect(plan.contains { $0.contains("using \(name) on \(table)") }, "\(plan)")
            }
        }
    }

    /// Each table with the name of its key, the key's columns and their types.
    private static func primaryKeys(of schema: String) -> String {
        """
        SELECT relation.relname, key.relname, string_agg(attname, ' ' ORDER BY place),
            string_agg(format_type(atttypid, NULL), '/' ORDER BY place)
        FROM pg_index JOIN pg_class AS relation ON relation.oid = indrelid JOIN pg_class AS key ON key.oid = indexrelid
        CROSS JOIN LATERAL unnest(indkey::smallint[]) WITH ORDINALITY AS columns (number, place)
        JOIN pg_attribute ON attrelid = indrelid AND attnum = number
        WHERE indisprimary AND relation.relnamespace = '\(schema)'::regnamespace
        GROUP BY relation.relname, key.relname ORDER BY relation.relname
        """
    }
}
