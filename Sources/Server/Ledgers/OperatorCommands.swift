/// The commands of who looks after a ledger, with their flags.
enum OperatorCommands {
    static let all = [migrate, check, rebuild, backup, restore] + ImportCommands.all

    private static let json = CommandShape.Option("json", "One JSON object instead of text.")

    private static let migrate = CommandShape(
        name: "migrate",
        summary: "Brings the ledger's schema up to date, as serve does when it starts.",
        options: [.init("dry-run", "Only say what would be applied."), json] + Setting.placeOptions,
        notes: ["An older version of Assay does not open the ledger any more: make a backup before."],
        examples: [("assay migrate --dry-run --data /var/lib/assay", "what a new version would change")]
    )

    private static let check = CommandShape(
        name: "check",
        summary: "Looks at the whole ledger, and says what is wrong with it.",
        options: [
            .init(
                "audit-head",
                value: "NUMBER:SHA256",
                "A head of the audit log that an earlier check told: whether that row still has this link."
            ),
            .init(
                "audit-from",
                value: "NUMBER:SHA256",
                "A link of the audit log to go on from: what is broken up to its row was looked into."
            ),
            json,
        ] + Setting.placeOptions,
        notes: [
            "It only reads, over one snapshot, beside running servers or without one; docs/operations.md has the codes.",
            "Exits with 0 when it is sound, 1 when it is not, 2 when it cannot be read.",
        ],
        examples: [
            ("assay check --data /var/lib/assay", "after a power cut, or of a copy"),
            ("assay check --json --config assay.json | jq .counts", "numbers to watch"),
            ("assay check --json --config assay.json | jq -c .audit_head", "to be noted elsewhere"),
        ]
    )

    private static let rebuild = CommandShape(
        name: "rebuild",
        summary: "Makes again what follows from what is recorded, and shows what differs.",
        options: [.init("apply", "Write what differs, and tell the shop. Without it nothing is changed."), json]
            + Setting.options,
        notes: [
            """
            Balances are summed up from their postings; what was given is decided from the recorded transactions
            by the terms in the configuration. docs/operations.md says what is kept as it is.
            """,
            "With --apply a folder must not be served meanwhile; a PostgreSQL database may.",
            "Exits with 0 when nothing differs or all was written, 1 when something differs or is left, 2 for a failure.",
        ],
        examples: [
            ("assay rebuild --config assay.json", "what another catalogue would give"),
            ("assay rebuild --config assay.json --apply", "and give it"),
        ]
    )

    private static let backup = CommandShape(
        name: "backup",
        summary: "Copies a folder's ledger to a file, or tries a copy out.",
        options: [
            .init("to", value: "FILE", "The copy; its SHA-256 goes to FILE.sha256. Neither may be there."),
            .init("verify", value: "FILE", "Restores this copy beside it, checks it, and deletes that again."),
            json,
        ] + Setting.placeOptions,
        notes: [
            "A server may write meanwhile. A PostgreSQL database is for pg_dump or pgBackRest.",
            "Exits with 0 when it is done, 1 when a copy is not sound, 2 when it could not be made or read.",
        ],
        examples: [
            ("assay backup --data /var/lib/assay --to /backup/monday.sqlite", "beside a running server"),
            ("assay backup --verify /backup/monday.sqlite", "whether it could be restored"),
        ]
    )

    private static let restore = CommandShape(
        name: "restore",
        summary: "Makes a copy the ledger of an empty folder, once it is checked.",
        options: [
            .init("from", value: "FILE", "The copy, beside FILE.sha256."),
            .init("data", value: "FOLDER", "Folder of the ledger; made if it is not there."),
            .init("accept-violations", "Restore also what check finds violations in; they are told."),
            json,
        ],
        notes: ["Exits with 0 when it is done, 1 when the copy is not sound, 2 when it cannot be read or put there."],
        examples: [("assay restore --from /backup/monday.sqlite --data /var/lib/assay", "onto a new machine")]
    )
}
