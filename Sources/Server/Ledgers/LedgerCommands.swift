/// The commands that look at what a ledger keeps of proofs, with their flags.
enum LedgerCommands {
    static let refusals = CommandShape(
        name: "ledger refusals",
        summary: "Shows what was refused: how often, for which reason, and the last ones.",
        options: [
            .init("since", value: "RFC3339", "Count from the hour of this moment on, in UTC (…Z)."),
            .init("samples", value: "NUMBER", "How many of the last ones to show; 10 if not given, 100 at most."),
        ] + common,
        notes: [
            note,
            "Refusals are written together with the next purchase: a running server's /metrics are ahead of them.",
        ],
        examples: [
            ("assay ledger refusals --data /var/lib/assay", "by reason, then the last ten"),
            ("assay ledger refusals --config assay.json", "of whatever ledger is configured, a database among them"),
            (
                "assay ledger refusals --json --samples 1 | jq -r .samples[0].proof | assay verify -",
                "why the last one was"
            ),
        ]
    )

    static let evidence = CommandShape(
        name: "ledger evidence",
        summary: "Shows the proofs that a transaction was recorded and last changed by.",
        positionals: "TRANSACTION",
        positionalsRange: 1...1,
        options: [.init("app", value: "ID", "The app whose transaction it is.")] + common,
        notes: [note, "Exits with 1 when there is no such transaction."],
        examples: [("assay ledger evidence --app shop 2000000123456789", "who presented it, when, and in which format")]
    )

    static let certificates = CommandShape(
        name: "ledger certificates",
        summary: "Shows the certificates that proofs came with, the newest first.",
        options: common,
        notes: [note],
        examples: [("assay ledger certificates --data /var/lib/assay", "who signs, since when, and until when")]
    )

    private static let common: [CommandShape.Option] =
        [.init("json", "One JSON object instead of text; proofs are in it, in base64.")] + Setting.placeOptions
    private static let note = "It only reads, beside running servers or without one."
}
