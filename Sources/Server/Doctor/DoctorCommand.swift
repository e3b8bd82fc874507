/// `assay doctor` on the command line.
enum DoctorCommand {
    static let shape = CommandShape(
        name: "doctor",
        summary: "Looks for what keeps a server from working, and names the cause and what to do.",
        options: [
            .init("json", "One JSON object instead of text."),
            .init("offline", "Calls nobody: neither Apple, nor receivers of webhooks, nor the server itself."),
            .init(
                "wait",
                value: "SECONDS",
                "How long to wait for Apple's test notification; 30 if not given, 0 asks for none."
            ),
            .init("backups", value: "FOLDER", "Where copies of the ledger lie: the newest must be from the last day."),
        ] + Setting.options,
        notes: [
            """
            It changes nothing, beside a running server or without one. Each app's key has Apple send a test notification,
            which arrives in the ledger like any other. docs/doctor.md lists the checks.
            """,
            "Exits with 0 when all is good, 1 when anything is not, 2 when it was called wrongly.",
        ],
        examples: [
            ("assay doctor --config /etc/assay/assay.json", "everything"),
            (
                "assay doctor --config assay.json --offline --json | jq '.findings[] | select(.status != \"ok\")'",
                "a script"
            ),
        ]
    )
}
