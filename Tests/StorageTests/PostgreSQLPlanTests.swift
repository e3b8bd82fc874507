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

    /// Also where rows are changed or deleted by many keys. How many there will be is not known to such a plan either.
    @Test(arguments: changes)
    func whoChangesByKeysFindsEachByItsIndex(statement: String, keys: String, index: String) async throws {
        try await PostgreSQLServer.withSchema { schema in
            await (try PostgreSQLStore.open(PostgreSQLServer.settings(schema: schema))).close()
            let plan = try TestDatabase.query(
                """
                SET search_path TO \(schema);
                SET plan_cache_mode TO force_generic_plan;
                PREPARE change AS \(statement) AND key.place BETWEEN 1 AND 1000000;
                EXPLAIN EXECUTE change (\(keys))
                """
            )
            #expect(plan.contains { $0.contains("using \(index)") }, "\(plan)")
            #expect(!plan.contains { $0.contains("Seq Scan") }, "\(plan)")
        }
    }

    /// As the queue and the deliveries have them.
    private static let changes: [(statement: String, keys: String, index: String)] = [
        (
            """
            DELETE FROM jobs USING unnest($1::text[], $2::text[], $3::bigint[]) WITH ORDINALITY AS key (k1, k2, k3, place)
            WHERE id = key.k1 AND +state = 1 AND owner = key.k2 AND token = key.k3
            """, "NULL, NULL, NULL", "jobs_id_key on jobs"
        ),
        (
            """
            WITH key AS MATERIALIZED (
                SELECT key.*, found.* FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[])
                    WITH ORDINALITY AS key (k1, k2, k3, k4, place)
                CROSS JOIN LATERAL (
                    SELECT sequence AS number FROM jobs WHERE state = key.k1 AND kind = key.k2 AND due_at <= key.k3
                    ORDER BY due_at, sequence FOR UPDATE SKIP LOCKED LIMIT key.k4 OFFSET 0
                ) AS found
            )
            UPDATE jobs SET token = token + 1 FROM key
            WHERE sequence = key.number AND +state = key.k1 AND +due_at <= key.k3
            """, "NULL, NULL, NULL, NULL", "jobs_pkey on jobs"
        ),
        (
            """
            UPDATE webhook_deliveries SET token = token
            FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[]) WITH ORDINALITY AS key (k1, k2, k3, k4, place)
            WHERE endpoint = key.k1 AND position = key.k2 AND state = 1 AND owner = key.k3 AND token = key.k4
            """, "NULL, NULL, NULL, NULL", "webhook_deliveries_pkey on webhook_deliveries"
        ),
    ]

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
