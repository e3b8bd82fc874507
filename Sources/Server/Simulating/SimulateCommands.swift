/// The commands that speak to a running simulator, with their flags.
enum SimulateCommands {
    static let all = [
        customer, buy, cancel, resume, renew, refund, act, clock, story, show, proof, chaos, notify,
    ]

    /// The last words of all names.
    static var names: String { all.compactMap(\.words.last).joined(separator: ", ") }

    private static let customer = shape(
        "customer",
        "Adds a customer to the store.",
        "NAME",
        1...1,
        [
            .init("environment", value: "production|sandbox", "The store she buys in; production if not given."),
            .init("storefront", value: "COUNTRY", "ISO 3166-1 alpha-3, such as DEU; USA if not given."),
            .init("pace", value: "PACE", "How fast her subscriptions run: real, testflight, sandbox_3 to sandbox_60."),
            .init("family", value: "NAME", "The family that she shares purchases with."),
        ]
    )

    private static let buy = shape(
        "buy",
        "Lets a customer buy; one who is new is added first.",
        "CUSTOMER PRODUCT",
        2...2,
        [
            .init("quantity", value: "N", "How many; 1 if not given."),
            .init("offer", value: "ID", "The offer that she buys it with."),
            .init("token", value: "UUID", "The appAccountToken that the app sets."),
        ],
        examples: [("assay simulate buy anna pro.monthly", "the bundle id in front may be left out")]
    )

    private static let cancel = shape("cancel", "Turns auto-renew off.", "CUSTOMER PRODUCT", 2...2)
    private static let resume = shape("resume", "Turns auto-renew on again.", "CUSTOMER PRODUCT", 2...2)
    private static let renew = shape(
        "renew",
        "Moves the clock to a customer's next renewal.",
        "CUSTOMER",
        1...1,
        notes: ["Time moves for the whole store."]
    )

    private static let refund = shape(
        "refund",
        "Decides at once about the refund of a customer's newest transaction.",
        "CUSTOMER [PRODUCT]",
        1...2,
        [.init("decision", value: "full|prorated|declined", "What Apple's support decides; full if not given.")]
    )

    private static let act = shape(
        "act",
        "Does anything that a story can do.",
        "JSON|-",
        1...1,
        notes: ["docs/stories.md lists the acts."],
        examples: [
            (
                #"assay simulate act '{"act": "set_payment", "customer": "anna", "works": false}'"#,
                "her card is declined"
            )
        ]
    )

    private static let clock = shape(
        "clock",
        "Shows the store's time, or moves it.",
        "[advance SPAN|to MOMENT|pace N]",
        0...2,
        notes: [
            "SPAN is ISO 8601, such as P31D or PT5M, or 31d, 5min, 2h, 1w, 1mo, 1y; MOMENT is RFC 3339; N is virtual"
                + " seconds in a real one."
        ]
    )

    private static let story = shape(
        "story",
        "Tells stories from now on, and says what is not as they expect.",
        "FILE…|-",
        1...1_000,
        notes: ["Exits with 1 when anything differs."],
        examples: [("assay simulate story Examples/stories/cancel-and-return.json", "docs/stories.md has the language")]
    )

    private static let show = shape("show", "Shows the store, or one customer.", "[CUSTOMER]", 0...1)

    private static let proof = shape(
        "proof",
        "Prints what the app of a customer would send: her newest proof of purchase, and nothing else.",
        "CUSTOMER [PRODUCT]",
        1...2,
        [
            .init(
                "format",
                value: "FORMAT",
                "jws (if not given), renewal, app-transaction, receipt or transaction-receipt."
            )
        ],
        examples: [("assay simulate proof anna | assay verify --roots simulator/roots -", "what Assay says of it")]
    )

    private static let chaos = shape(
        "chaos",
        "Shows how badly Apple behaves, or sets it.",
        "[JSON|none]",
        0...1,
        examples: [(#"assay simulate chaos '{"server_error": 200, "notices_twice": 100}'"#, "shares in thousandths")]
    )

    private static let notify = shape("notify", "Says where notifications go.", "URL|none", 1...1)

    private static func shape(
        _ word: String,
        _ summary: String,
        _ positionals: String,
        _ range: ClosedRange<Int>,
        _ options: [CommandShape.Option] = [],
        notes: [String] = [],
        examples: [(line: String, does: String)] = []
    ) -> CommandShape {
        CommandShape(
            name: "simulate \(word)",
            summary: summary,
            positionals: positionals,
            positionalsRange: range,
            options: options + [
                .init(
                    "at",
                    value: "URL",
                    "Where the simulator is; \(APIClient.Side.simulator.usualBase) if not given."
                ),
                .init("json", "The simulator's own answer instead of text."),
            ],
            notes: notes + ["Exits with 0 when it was done, 1 when the store refused, 2 when it could not be asked."],
            examples: examples
        )
    }
}
