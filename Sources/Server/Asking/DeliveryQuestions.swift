import Encoding

/// What the shop is told, and what Apple tells.
enum DeliveryQuestions {
    static let all = events + webhooks + deliveries + notifications

    private static let events: [Question] = [
        Question(
            name: "events list",
            summary: "Lists events in the order of their commits.",
            path: "/v1/events",
            fields: [.list("types", "Only these, with commas between them.", as: "types")] + Questions.filters,
            rows: .init(
                member: "events",
                columns: [
                    "cursor", "event.type", "event.timestamp", "event.data.customer_id", "event.data.*.product_id",
                ],
                place: "after"
            ),
            examples: [
                ("assay events list --after 41 --all --json", "all since the event with cursor 41, a line each"),
                ("assay events list --types delivery.granted,delivery.compensated", "what was given and taken back"),
            ]
        )
    ]

    private static let settings: [Question.Field] = [
        .list("types", "Only these events, with commas between them.", as: "types"),
        .list("environments", "Only events of these stores.", as: "environments"),
        .fixed("include-test-signed", "Also what only a test authority vouches for.", as: "include_test_signed"),
        .fixed("ordered", "A customer's events come one after another.", as: "order_per_customer"),
        .fixed("unordered", "They need not, as where nothing is said.", as: "order_per_customer", false),
        .fixed("acknowledge", "A 2xx also acknowledges what was delivered.", as: "acknowledge_by_2xx"),
        .fixed("asymmetric", "Messages are signed by a private key, too.", as: "asymmetric"),
        .whole("concurrency", "Messages under way at once.", as: "concurrency"),
        .whole("per-second", "Messages a second at most.", as: "per_second"),
    ]

    private static let changes: [Question.Field] =
        [
            .text("url", "URL", "Where messages go.", as: "url"),
            .fixed("enable", "It is sent messages again.", as: "is_enabled"),
            .fixed("disable", "It is sent none.", as: "is_enabled", false),
            .fixed("exclude-test-signed", "Not what a test authority signed.", as: "include_test_signed", false),
            .fixed("no-acknowledge", "A 2xx acknowledges nothing.", as: "acknowledge_by_2xx", false),
            .fixed("no-asymmetric", "Messages are signed by secrets alone.", as: "asymmetric", false),
            .null("any-rate", "As many messages a second as there are.", as: "per_second"),
            .null("put-missed-aside", "What it missed is offered no longer.", as: "missed"),
        ] + settings

    private static let webhooks: [Question] = [
        Question(
            name: "webhooks list",
            summary: "Lists where events are sent to.",
            path: "/v1/webhooks",
            rows: .init(
                member: "webhooks",
                columns: ["webhook_id", "is_enabled", "url", "environments", "disabled_reason", "disabled_at"]
            ),
            examples: [("assay webhooks list", "all endpoints of the app")]
        ),
        Question(
            name: "webhooks show",
            summary: "Shows an endpoint, its backlog and its dead letters.",
            path: "/v1/webhooks/{}",
            words: "WEBHOOK",
            examples: [("assay webhooks show whe_0123", "since when it fails")]
        ),
        Question(
            name: "webhooks create",
            summary: "Adds an endpoint; its secret is shown this once.",
            isChange: true,
            path: "/v1/webhooks",
            fields: [.text("url", "URL", "Where messages go.", as: "url").needed] + settings,
            examples: [("assay webhooks create --url https://shop.example/assay", "all that happens in production")]
        ),
        Question(
            name: "webhooks change",
            summary: "Changes what is named of an endpoint.",
            isChange: true,
            path: "/v1/webhooks/{}",
            words: "WEBHOOK",
            fields: changes,
            oneOf: changes.map(\.option.name),
            examples: [("assay webhooks change whe_0123 --enable", "once the receiver is mended")]
        ),
        Question(
            name: "webhooks rotate",
            summary: "Gives an endpoint a new secret, or ends the old ones.",
            isChange: true,
            path: "/v1/webhooks/{}/rotate",
            words: "WEBHOOK",
            fields: [
                .whole("keep", "So many secrets stay, the newest ones; without it a new one is made.", as: "keep")
            ],
            examples: [
                ("assay webhooks rotate whe_0123", "both sign from now on"),
                ("assay webhooks rotate whe_0123 --keep 1", "when the receiver knows the new one"),
            ]
        ),
        Question(
            name: "webhooks test",
            summary: "Sends a message that stands for nothing, and says what was answered.",
            isChange: true,
            isRepeatable: true,
            path: "/v1/webhooks/{}/test",
            words: "WEBHOOK",
            isSo: { $0["status"]?.int64.map { (200...299).contains($0) } ?? false },
            notes: ["Exits with 1, too, when the receiver did not answer, or with anything but 2xx."],
            examples: [("assay webhooks test whe_0123", "whether the receiver checks signatures well")]
        ),
        Question(
            name: "webhooks replay",
            summary: "Sends one event, the dead ones, or those of a while again.",
            isChange: true,
            path: "/v1/webhooks/{}/replay",
            words: "WEBHOOK",
            fields: [
                .text("event", "ID", "This one.", as: "event_id"),
                .fixed("dead", "All that were given up.", as: "dead"),
                .text("from", "RFC3339", "All since this moment, in UTC (…Z).", as: "from"),
                .text("to", "RFC3339", "And before this one.", as: "to"),
                .whole("cursor", "Only what stands behind this place in the feed.", as: "cursor"),
            ],
            oneOf: ["event", "dead", "from"],
            goesOn: (next: "cursor", place: "cursor"),
            examples: [("assay webhooks replay whe_0123 --dead", "after the receiver was down")]
        ),
        Question(
            name: "webhooks delete",
            summary: "Ends an endpoint; what it was still to be sent is given up.",
            isChange: true,
            path: "/v1/webhooks/{}/delete",
            words: "WEBHOOK",
            examples: [("assay webhooks delete whe_0123", "for good")]
        ),
    ]

    private static let deliveries: [Question] = [
        Question(
            name: "webhooks deliveries",
            summary: "Lists what was sent to an endpoint, the newest first.",
            path: "/v1/webhooks/{}/deliveries",
            words: "WEBHOOK",
            fields: [.text("state", "STATE", "Only those in this state, such as dead.", as: "state")],
            rows: .init(
                member: "deliveries",
                columns: ["event_id", "state", "attempt_count", "last_status", "dead_reason", "due_at"],
                place: "before"
            ),
            examples: [("assay webhooks deliveries whe_0123 --state dead --all", "what was given up")]
        ),
        Question(
            name: "webhooks delivery",
            summary: "Shows one message with its attempts.",
            path: "/v1/webhooks/{}/deliveries/{}",
            words: "WEBHOOK EVENT",
            examples: [("assay webhooks delivery whe_0123 evt_4567", "what was answered, and when")]
        ),
    ]

    private static let notifications: [Question] = [
        Question(
            name: "notifications list",
            summary: "Lists Apple's notifications, the newest first.",
            path: "/v1/notifications",
            fields: [
                .text("type", "TYPE", "Only this type, such as DID_RENEW.", as: "type"),
                .text("original", "ID", "Only about this chain.", as: "original_transaction_id"),
            ] + Questions.filters,
            rows: .init(
                member: "notifications",
                columns: ["id", "type", "subtype", "arrival", "environment", "original_transaction_id", "received_at"],
                place: "after"
            ),
            examples: [("assay notifications list --type REFUND", "what was taken back")]
        ),
        Question(
            name: "notifications show",
            summary: "Shows a notification, with its payload.",
            path: "/v1/notifications/{}",
            words: "ID",
            examples: [("assay notifications show ID --json | jq -r .payload | base64 -d", "what Apple sent")]
        ),
        Question(
            name: "notifications figures",
            summary: "Shows what Apple says to have sent, and what of it arrived.",
            path: "/v1/notifications/figures",
            examples: [("assay notifications figures", "whether any were missed")]
        ),
    ]
}
