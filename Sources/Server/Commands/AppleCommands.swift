/// The commands of who helps customers: each has a running server ask Apple, with their flags.
enum AppleCommands {
    static let all = [order, extend, extendAll, setToken, show]

    private static let order = shape(
        "order",
        "Looks up what a customer has bought by the order's number in Apple's mail.",
        "ORDER",
        examples: [("assay apple order MK1234ABCD", "each purchase of it is verified, and recorded if it is new")]
    )

    private static let extend = shape(
        "extend",
        "Gives one subscription free days.",
        "ORIGINAL",
        [days, reason, environment],
        notes: ["ORIGINAL is the number of its first transaction. Apple does it at most twice a year."],
        examples: [("assay apple extend 2000000123456789 --days 7 --reason service_issue", "after an outage")]
    )

    private static let extendAll = shape(
        "extend-all",
        "Gives all who subscribe to a product free days.",
        "PRODUCT",
        [
            days, reason,
            .init("storefronts", value: "COUNTRIES", "ISO 3166-1 alpha-3, such as DEU,AUT; all if not given."),
            environment,
        ],
        notes: ["Apple needs hours to days for it: \"assay apple show\" tells how far it is."],
        examples: [("assay apple extend-all com.example.pro --days 3 --storefronts DEU,AUT", "a regional outage")]
    )

    private static let setToken = shape(
        "set-token",
        "Tells Apple whose purchases are that were made outside of the app.",
        "UUID",
        [
            .init("transaction", value: "ORIGINAL", "One purchase, by the number of its first transaction."),
            .init("customer", value: "CUSTOMER", "All that this customer of the shop has bought."),
            environment,
        ],
        examples: [
            (
                "assay apple set-token 7e3fb204-2a6c-4d0f-9d8a-0d6a5e8f4b11 --customer ann",
                "also what she bought before the app set a token"
            )
        ]
    )

    private static let show = shape(
        "show",
        "Shows what was asked before, and what Apple has answered.",
        "ID",
        isChange: false
    )

    private static let days = CommandShape.Option("days", value: "N", "How many, 1 to 90.")
    private static let reason = CommandShape.Option(
        "reason",
        value: "REASON",
        "undeclared (if not given), customer_satisfaction, service_issue or other."
    )
    private static let environment = CommandShape.Option(
        "environment",
        value: "production|sandbox",
        "The store; production if not given."
    )

    private static func shape(
        _ word: String,
        _ summary: String,
        _ positional: String,
        _ options: [CommandShape.Option] = [],
        isChange: Bool = true,
        notes: [String] = [],
        examples: [(line: String, does: String)] = []
    ) -> CommandShape {
        CommandShape(
            name: "apple \(word)",
            summary: summary,
            positionals: positional,
            positionalsRange: 1...1,
            options: options + (isChange ? [ChangeName.option] : []) + ServerAccess.options + [
                .init("wait", value: "SECONDS", "How long to wait for Apple's answer; 60 if not given."),
                .init("json", "The server's own answer instead of text."),
            ],
            notes: notes + [
                """
                Exits with 0 when it was done, 1 when Apple or the server says no, 2 when the server could not be asked,
                3 when Apple has not answered yet: the server goes on asking, also where it cannot be asked for a while.
                """
            ],
            examples: examples
        )
    }
}
