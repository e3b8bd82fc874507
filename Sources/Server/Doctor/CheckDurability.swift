import Storage

/// Whether what the database confirms is on the disk.
enum CheckDurability {
    static func findings(_ settings: DatabaseSettings) -> [Finding] {
        switch settings.engine {
        case .sqlite: sqlite(settings)
        case .postgresql: postgreSQL(settings)
        }
    }

    /// How far a connection syncs is its own: the one that writes sets FULL, and does not open without it.
    private static func sqlite(_ settings: DatabaseSettings) -> [Finding] {
        let mode = settings.values["journal_mode"] ?? ""
        guard mode == "wal" else {
            return [
                .fail(
                    "durability",
                    "journal_mode is \(mode)",
                    cause: "Another program changed the file.",
                    fix: "stop the server, and start it again: it sets journal_mode = WAL"
                )
            ]
        }
        return [.ok("durability", "SQLite \(settings.version), journal_mode wal; who writes sets synchronous full")]
    }

    private static func postgreSQL(_ settings: DatabaseSettings) -> [Finding] {
        let wrong = ["fsync", "full_page_writes", "synchronous_commit"].filter { settings.values[$0] == "off" }
        guard wrong.isEmpty else {
            return wrong.map { name in
                .fail(
                    "durability",
                    of: name,
                    "off",
                    cause: "What was confirmed can be gone, or the database damaged, after a power cut.",
                    fix: "set \(name) = on in postgresql.conf, and reload it"
                )
            }
        }
        let commit = settings.values["synchronous_commit"] ?? ""
        return [.ok("durability", "PostgreSQL \(settings.version), fsync on, synchronous_commit \(commit)")]
    }
}
