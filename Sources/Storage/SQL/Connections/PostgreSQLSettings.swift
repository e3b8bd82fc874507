/// Where a PostgreSQL store lies, and how it behaves.
package struct PostgreSQLSettings: Sendable {
    /// Whether two writes see each other's work in between, and one of them is turned back; or only at the rows that
    /// both write. The ledger needs no more than the second; some databases know only the first.
    package enum Isolation: String, Sendable, CaseIterable {
        case readCommitted = "READ COMMITTED"
        case serializable = "SERIALIZABLE"
    }

    /// A moment at which a fault can be made on purpose.
    package enum Moment: Sendable {
        /// Before a statement of a write is sent. The fault: SQLSTATE 40001.
        case statement
        /// Before the answer to a commit is read. The fault: the connection is cut, and the answer lost.
        case answerToCommit
    }

    /// The most characters of a schema's name.
    package static let schemaCharactersMax = 63

    /// `postgresql://user@host:port/database?…`, as libpq understands it.
    package var url: String
    /// Where the tables are. Made if it is not there.
    package let schema: String
    /// How many connections write, at least 1. More than the server's cores only wait for each other.
    package var writers = 2
    /// How many connections read, at least 1.
    package var readers = 2
    /// True behind a pooler that lends sessions for one transaction (PgBouncer's transaction mode): then nothing is kept
    /// in a session, neither named statements nor settings.
    package var isPooled = false
    package var isolation = Isolation.readCommitted
    /// Whether a claim passes over what another claims at that moment (`SKIP LOCKED`, which not every database knows); else
    /// it waits for the other to end, and may get nothing.
    package var skipsLocked = true
    /// How often one write is tried, from its first question on, when another was faster or the connection broke.
    package var attemptsMax = 10
    /// How long making a connection may take.
    package var connectTimeout = Duration.seconds(5)
    /// How long an answer to a statement is waited for.
    package var statementTimeout = Duration.seconds(15)
    /// After what time the server ends a transaction in which nothing happens: its node may have died.
    package var idleTimeout = Duration.seconds(15)
    /// The same of a store that is opened to be looked at: what a pager that was left open, or a host that is gone, has read of
    /// holds up who alters those tables, and what would be cleared away.
    package var lookTimeout = Duration.seconds(3_600)
    /// How long a lock is waited for.
    package var lockTimeout = Duration.seconds(5)
    /// Whose clock leases go by: the database's, because no two servers' are the same. A test brings its own.
    package var leaseClock = LeaseClock.database
    /// Waits between two attempts.
    package var pause: @Sendable (Duration) async -> Void
    /// Hears when the database is lost, and when it is back.
    package var tell: @Sendable (DatabaseEvent) -> Void = { _ in }
    /// For tests: true makes the fault. In service nothing ever fails on purpose.
    package var faults: @Sendable (Moment) -> Bool = { _ in false }

    /// `nil` when the schema's name is not made of small letters, digits and underscores alone.
    package init?(url: String, schema: String = "assay", pause: @escaping @Sendable (Duration) async -> Void) {
        guard Self.isName(schema) else { return nil }
        self.url = url
        self.schema = schema
        self.pause = pause
    }

    /// Whether a schema may be called so: it stands in statements.
    package static func isName(_ text: String) -> Bool {
        let isPlain = text.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
        }
        return isPlain && (1...schemaCharactersMax).contains(text.utf8.count)
    }

    /// What is set in every session, or behind a pooler in every transaction. Statements have no limit of the server's:
    /// one that cancels a commit's wait for its standby would make it look like success. The client stops listening.
    var preparation: [String] {
        [
            "search_path TO \"\(schema)\"", "statement_timeout TO 0",
            "lock_timeout TO \(Self.milliseconds(lockTimeout))",
            "idle_in_transaction_session_timeout TO \(Self.milliseconds(idleTimeout))",
        ]
    }

    /// What is set beside that in a transaction that only reads: the server ends a statement before the client stops listening,
    /// which it would not notice, and work on.
    var readPreparation: [String] { ["statement_timeout TO \(Self.milliseconds(statementTimeout) * 9 / 10)"] }

    static func milliseconds(_ duration: Duration) -> Int64 {
        duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000
    }
}
