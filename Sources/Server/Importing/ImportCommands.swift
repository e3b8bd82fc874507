import Pipeline

/// The commands that bring into a ledger what others know, with their flags.
enum ImportCommands {
    static let all = [importing, exporting, reconcile]

    private static let exporting = CommandShape(
        name: "export",
        summary: "Writes everything of one app as lines: JSON, or a table.",
        options: [
            .init("app", value: "ID", "Whose rows."),
            .init(
                "only",
                value: "KINDS",
                "Only \(ExportKind.allCases.map(\.rawValue).joined(separator: ", ")); all if not given."
            ),
            .init("format", value: "jsonl|csv", "JSON lines if not given; a table has one kind of rows."),
            .init("without-proofs", "Leave out what proves the transactions: it cannot be imported then."),
            .init("to", value: "FILE", "A new file, for its owner alone; standard output if not given."),
            .init("json", "With --to: one JSON object that tells what was written."),
        ] + Setting.placeOptions,
        notes: [
            """
            It only reads, over one snapshot, beside running servers or without one. The last line says how many rows there
            are, and after which event of the feed whatever changes later is told. docs/cli.md describes the rows.
            """,
            "Exits with 0 when all was written, 1 when rows are left out that cannot be read, 2 when it could not be done.",
        ],
        examples: [
            ("assay export --data /var/lib/assay --app shop --to shop.jsonl", "all of it"),
            ("assay export --config assay.json --app shop --format csv --only balance", "what every customer has left"),
            ("assay import --config new.json --app shop --from assay shop.jsonl", "and into another ledger"),
        ]
    )

    private static let reconcile = CommandShape(
        name: "reconcile",
        summary: "Reads a window of time from Apple once more, after a restore or a failover.",
        options: [
            .init("since", value: "RFC3339", "Where the window begins: the moment of the backup, or a little before."),
            .init("until", value: "RFC3339", "Where it ends; now if not given."),
            .init("app", value: "ID", "Only this app; all that have a key if not given."),
            .init("refunds", value: "DAYS", "Also ask Get Refund History about customers who bought in so many days."),
            .init("history", "Also read the purchase history of every customer."),
            .init("patience", value: "MINUTES", "How long to work on it; 60 if not given."),
            .init("json", "One JSON object instead of text."),
        ] + Setting.options,
        notes: [
            """
            It writes jobs down and works on them, as servers of a PostgreSQL database do beside it. A folder must not be
            served meanwhile. What is left when its patience ends, servers go on with. docs/operations.md says more.
            """,
            "Exits with 0 when all was read, 1 when something is left, 2 when it could not be done.",
        ],
        examples: [
            ("assay reconcile --config assay.json --since 2026-01-05T03:00:00Z", "after a restore of that backup")
        ]
    )

    private static let importing = CommandShape(
        name: "import",
        summary: "Takes old purchases in from another system's books.",
        positionals: "FILE…",
        positionalsRange: 1...10_000,
        options: [
            .init("app", value: "ID", "Whose purchases they are."),
            .init("plan", "Read and verify all, write nothing, and say what would become of it."),
            .init("format", value: "FORMAT", "auto, receipts, lines, jsonl, csv or tsv; auto if not given."),
            .init("from", value: "SERVICE", "Another service's export: adapty or revenuecat; or assay's own."),
            .init("column", value: "WHAT=NAME,…", "Names of columns: proof, transaction_id, customer, store."),
            .init("named-for-customers", "Files are named for their customers, up to the first dot."),
            .init("deliver", value: "none|grant", "Whether the shop is still to deliver; none if not given."),
            .init("report", value: "FILE", "One line for each row: JSON, or CSV if FILE ends so."),
            .init("json", "One JSON object instead of text."),
        ] + Setting.options,
        notes: [
            """
            A file is a table, JSON lines, or one proof a line; a folder's files are one proof each. docs/import.md says more.
            The same command goes on where one was cut off. A folder's ledger must not be served meanwhile.
            """,
            "Exits with 0 when every row was taken or known, 1 when some were not, 2 when it could not be done.",
        ],
        examples: [
            ("assay import --plan --config assay.json --app shop purchases.csv", "what would become of it"),
            ("assay import --config assay.json --app shop --report report.jsonl purchases.csv", "and do it"),
        ]
    )
}
