/// Keys, certificates, and what Apple was asked.
enum AccessQuestions {
    static let all: [Question] = [
        Question(
            name: "keys list",
            summary: "Lists the app's keys, the newest first.",
            path: "/v1/keys",
            rows: .init(
                member: "keys",
                columns: ["key_id", "name", "kind", "scopes", "hint", "last_used_at", "expires_at", "revoked_at"]
            ),
            examples: [("assay keys list", "who may call, and who did")]
        ),
        Question(
            name: "keys create",
            summary: "Makes a key; its secret is shown this once.",
            isChange: true,
            path: "/v1/keys",
            fields: [
                .text("name", "NAME", "What you call it.", as: "name").needed,
                .text("kind", "KIND", "publishable, for an app, or secret.", as: "kind").needed,
                .list("scopes", "What it opens: docs/keys.md has them.", as: "scopes"),
                .list("environments", "The stores whose proofs it may bring.", as: "environments"),
                .whole("days", "How long it is good for.", as: "expires_in_days"),
            ],
            examples: [
                ("assay keys create --name ios --kind publishable", "for the app"),
                ("assay keys create --name reports --kind secret --scopes read --json | jq -r .secret", "to read only"),
            ]
        ),
        Question(
            name: "keys rotate",
            summary: "Gives a key's holder a new secret; the old one opens on for a while.",
            isChange: true,
            path: "/v1/keys/{}/rotate",
            words: "KEY",
            fields: [
                .whole("overlap", "Seconds that the old one is good for; a day if not given.", as: "overlap_seconds")
            ],
            examples: [("assay keys rotate key_0123 --overlap 3600", "an hour to exchange it")]
        ),
        Question(
            name: "keys revoke",
            summary: "Ends a key now.",
            isChange: true,
            path: "/v1/keys/{}/revoke",
            words: "KEY",
            examples: [("assay keys revoke key_0123", "it has leaked")]
        ),
        Question(
            name: "keys signing",
            summary: "Lists the keys that answers are signed by.",
            path: "/v1/signing-keys",
            rows: .init(member: "keys", columns: ["key_id", "algorithm", "public_key"]),
            examples: [("assay keys signing --json", "what to build into the app")]
        ),
        Question(
            name: "certificates list",
            summary: "Lists the certificates that proofs came with.",
            path: "/v1/certificates",
            rows: .init(member: "certificates", columns: ["role", "vouched_by", "not_after", "subject"]),
            examples: [("assay certificates list", "and when they end")]
        ),
        Question(
            name: "apple requests",
            summary: "Lists what Apple was asked for customers, the newest first.",
            path: "/v1/apple/requests",
            rows: .init(member: "requests", columns: ["id", "kind", "state", "asked_at", "asked_by"], place: "after"),
            examples: [("assay apple requests", "\"assay apple show\" has one whole")]
        ),
    ]
}
