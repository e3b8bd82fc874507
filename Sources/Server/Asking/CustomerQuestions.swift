/// What customers have, and what Apple asks about them.
enum CustomerQuestions {
    static let all = customers + granted + balances + subscriptions + refunds

    private static let customers: [Question] = [
        Question(
            name: "customers entitlements",
            summary: "Lists what a customer may use now, and until when.",
            path: "/v1/customers/{}/entitlements",
            words: "CUSTOMER",
            rows: .init(
                member: "entitlements",
                columns: ["entitlement", "until", "environment", "product_id", "transaction_id"]
            ),
            examples: [("assay customers entitlements anna", "what the app shows her")]
        ),
        Question(
            name: "customers consent",
            summary: "Shows whether Apple may be told of a customer's purchases.",
            path: "/v1/customers/{}/consent",
            words: "CUSTOMER",
            examples: [("assay customers consent anna", "and until when it was asked")]
        ),
        Question(
            name: "customers set-consent",
            summary: "Notes that a customer consents, or no longer does.",
            isChange: true,
            path: "/v1/customers/{}/consent",
            words: "CUSTOMER",
            fields: [
                .fixed("given", "She does.", as: "is_given"),
                .fixed("withdrawn", "She does not any more.", as: "is_given", false),
            ],
            oneOf: ["given", "withdrawn"],
            examples: [("assay customers set-consent anna --withdrawn", "from now on nothing is told")]
        ),
    ]

    private static let granted: [Question] = [
        Question(
            name: "customers granted",
            summary: "Lists what a customer was granted by hand, by whom, and why.",
            path: "/v1/customers/{}/granted-entitlements",
            words: "CUSTOMER",
            rows: .init(
                member: "granted_entitlements",
                columns: ["entitlement", "until", "is_revoked", "environment", "changed_at", "changed_by", "reason"]
            ),
            examples: [("assay customers granted anna", "also what was revoked")]
        ),
        Question(
            name: "customers grant",
            summary: "Gives a customer an entitlement without a purchase.",
            isChange: true,
            path: "/v1/customers/{}/granted-entitlements/{}/grant",
            words: "CUSTOMER ENTITLEMENT",
            fields: [
                .text("until", "MOMENT", "Until when.", as: "until"),
                .null("for-ever", "Without an end.", as: "until"), because,
            ] + Questions.sides,
            oneOf: ["until", "for-ever"],
            examples: [
                ("assay customers grant anna pro --until 2026-12-31T00:00:00Z --reason \"the outage\"", "and no longer")
            ]
        ),
        Question(
            name: "customers revoke",
            summary: "Ends what a customer was granted by hand; what she bought stays.",
            isChange: true,
            path: "/v1/customers/{}/granted-entitlements/{}/revoke",
            words: "CUSTOMER ENTITLEMENT",
            fields: [because] + Questions.sides,
            examples: [("assay customers revoke anna pro", "at once")]
        ),
    ]

    private static let because = Question.Field.text("reason", "TEXT", "Why, for whoever asks later.", as: "reason")

    private static let balances: [Question] = [
        Question(
            name: "customers balances",
            summary: "Lists what a customer has of each currency of the app.",
            path: "/v1/customers/{}/balances",
            words: "CUSTOMER",
            rows: .init(member: "balances", columns: ["currency", "balance", "uncollected", "environment"]),
            examples: [("assay customers balances anna", "her coins")]
        ),
        Question(
            name: "customers postings",
            summary: "Lists how a balance came about, the newest first.",
            path: "/v1/customers/{}/balances/{}/postings",
            words: "CUSTOMER CURRENCY",
            fields: Questions.sides,
            rows: .init(
                member: "postings",
                columns: ["number", "amount", "from", "to", "cause", "transaction_id", "posted_at"],
                place: "before"
            ),
            examples: [("assay customers postings anna coins --all", "everything that moved")]
        ),
        Question(
            name: "customers use",
            summary: "Takes from a balance what a customer uses; no more than there is.",
            isChange: true,
            path: "/v1/customers/{}/balances/{}/use",
            words: "CUSTOMER CURRENCY",
            fields: [.whole("amount", "How much.", as: "amount").needed] + Questions.sides,
            examples: [("assay customers use anna coins --amount 30 --idempotency-key sale-12", "once, however often")]
        ),
        Question(
            name: "customers adjust",
            summary: "Changes a balance by hand.",
            isChange: true,
            path: "/v1/customers/{}/balances/{}/adjust",
            words: "CUSTOMER CURRENCY",
            fields: [.whole("amount", "How much more, or with - less.", as: "amount").needed] + Questions.sides,
            examples: [("assay customers adjust anna coins --amount=-5", "what was too much")]
        ),
    ]

    private static let columns = [
        "original_transaction_id", "product_id", "state", "expires_at", "access_until", "will_auto_renew",
        "environment",
    ]

    private static let subscriptions: [Question] = [
        Question(
            name: "subscriptions list",
            summary: "Lists the subscriptions that a customer owns or shares.",
            path: "/v1/customers/{}/subscriptions",
            words: "CUSTOMER",
            rows: .init(member: "subscriptions", columns: columns),
            examples: [("assay subscriptions list anna", "as they stand now")]
        ),
        Question(
            name: "subscriptions show",
            summary: "Shows a subscription by its original transaction.",
            path: "/v1/subscriptions/{}",
            words: "ORIGINAL",
            rows: .init(member: "subscriptions", columns: columns),
            notes: ["\"assay apple extend\" gives it free days."],
            examples: [("assay subscriptions show 2000000123456789 --json | jq .", "with every member")]
        ),
    ]

    private static let refunds: [Question] = [
        Question(
            name: "refunds list",
            summary: "Lists what Apple asks about purchases whose price customers want back.",
            path: "/v1/consumption-requests",
            fields: [
                .text("state", "STATE", "Only those in this state.", as: "state"),
                .text("transaction", "ID", "Only those about this transaction.", as: "transaction_id"),
            ] + Questions.filters,
            rows: .init(
                member: "consumption_requests",
                columns: ["id", "state", "transaction_id", "product_id", "reason", "deadline"],
                place: "after"
            ),
            examples: [("assay refunds list --state open", "what is still to be answered")]
        ),
        Question(
            name: "refunds show",
            summary: "Shows a refund request, and what Apple would be told.",
            path: "/v1/consumption-requests/{}",
            words: "ID",
            examples: [("assay refunds show ID", "before answering it")]
        ),
        Question(
            name: "refunds answer",
            summary: "Answers a refund request now.",
            isChange: true,
            path: "/v1/consumption-requests/{}/answer",
            words: "ID",
            fields: [
                .text("preference", "WORD", "What you would prefer Apple to do.", as: "refund_preference"),
                .text("delivery", "WORD", "Whether it was delivered, by what you know.", as: "delivery_status"),
            ],
            examples: [
                ("assay refunds answer ID --preference decline", "docs/consumption.md has the words"),
                ("assay refunds answer ID --delivery delivered", "where the ledger does not know"),
            ]
        ),
        Question(
            name: "refunds decline",
            summary: "Leaves a refund request without an answer.",
            isChange: true,
            path: "/v1/consumption-requests/{}/decline",
            words: "ID",
            examples: [("assay refunds decline ID", "Apple decides by itself")]
        ),
    ]
}
