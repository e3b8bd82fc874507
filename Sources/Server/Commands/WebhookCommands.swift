/// The commands that sign a webhook's message and check one, with their flags.
enum WebhookCommands {
    static let sign = CommandShape(
        name: "webhook sign",
        summary: "Signs a message as Assay's webhooks are signed, and prints its fields.",
        options: [
            .init("secret-file", value: "FILE", "Secrets (whsec_…) and private keys (whsk_…), one a line."),
            .init("id", value: "ID", "The message's name: its webhook-id."),
            .init("at", value: "RFC3339", "The moment of the attempt, in UTC (…Z); now if not given."),
        ],
        notes: [
            "The message is read from standard input, byte for byte. There is a signature for each line of the file.",
            note,
        ],
        examples: [
            ("assay webhook sign --secret-file secret.txt --id evt_test < body.json > fields.txt", "to try a receiver")
        ]
    )

    static let verify = CommandShape(
        name: "webhook verify",
        summary: "Says whether a webhook's message is from who holds one of these secrets, and new.",
        options: [
            .init("secret-file", value: "FILE", "Secrets (whsec_…) and public keys (whpk_…), one a line."),
            .init("fields", value: "FILE", "The request's fields, one a line: webhook-id: …"),
            .init("at", value: "RFC3339", "The receiver's time, in UTC (…Z); now if not given."),
        ],
        notes: [
            "The message is read from standard input, byte for byte.",
            "Exits with 0 when it is, 1 when not, 2 when something could not be read.", note,
        ],
        examples: [("assay webhook verify --secret-file secret.txt --fields fields.txt < body.json", "what was sent")]
    )

    private static let note = "docs/webhooks.md describes what is signed and how."
}
