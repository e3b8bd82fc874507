/// Orders, and what was bought.
enum ShopQuestions {
    static let all = products + orders + transactions + deliveries

    private static let products: [Question] = [
        Question(
            name: "products list",
            summary: "Lists what the app sells, and what each product gives.",
            path: "/v1/catalogue",
            rows: .init(member: "products", columns: ["product_id", "type", "period_days", "goods"]),
            examples: [("assay products list", "the catalogue as it is in force")]
        )
    ]

    private static let orders: [Question] = [
        Question(
            name: "orders list",
            summary: "Lists orders.",
            path: "/v1/orders",
            fields: [.text("customer", "CUSTOMER", "Only this customer's.", as: "customer_id")],
            rows: .init(
                member: "orders",
                columns: [
                    "order_id", "state", "refunded_percentage", "customer_id", "product_id", "quantity", "placed_at",
                ],
                place: "after"
            ),
            examples: [("assay orders list --customer anna --json | jq -r .order_id", "their ids alone")]
        ),
        Question(
            name: "orders show",
            summary: "Shows an order, and what pays it.",
            path: "/v1/orders/{}",
            words: "ORDER",
            examples: [("assay orders show order-7", "whether it is paid")]
        ),
        Question(
            name: "orders create",
            summary: "Places an order; again is no second one.",
            isChange: true,
            path: "/v1/orders",
            fields: [
                .text("order", "ORDER", "Its id, in your own words.", as: "order_id").needed,
                .text("customer", "CUSTOMER", "Who is to buy it.", as: "customer_id").needed,
                .text("product", "PRODUCT", "What is to be bought.", as: "product_id").needed,
                .whole("quantity", "How many; 1 if not given.", as: "quantity"),
                .text("token", "UUID", "The appAccountToken that the app sets.", as: "app_account_token"),
                .whole("expires", "Seconds that it waits.", as: "expires_in_seconds"),
            ],
            examples: [
                (
                    "assay orders create --order order-7 --customer anna --product com.example.coins",
                    "before the app buys"
                )
            ]
        ),
        Question(
            name: "orders cancel",
            summary: "Ends an order's waiting.",
            isChange: true,
            path: "/v1/orders/{}/cancel",
            words: "ORDER",
            examples: [("assay orders cancel order-7", "nothing pays it from now on")]
        ),
        Question(
            name: "orders attach",
            summary: "Has a transaction that waits, or was given without an order, pay one, by hand.",
            isChange: true,
            path: "/v1/orders/{}/attach",
            words: "ORDER",
            fields: [
                .text("transaction", "ID", "The transaction.", as: "transaction_id").needed,
                .fixed(
                    "overrule-account-token",
                    "Also where Apple signed the token of another order or customer.",
                    as: "overrule_account_token"
                ),
            ] + Questions.sides,
            examples: [("assay orders attach order-7 --transaction 2000000123456789", "what support found")]
        ),
    ]

    private static let columns = [
        "transaction_id", "product_id", "quantity", "environment", "purchase_date", "fulfilment.state",
        "fulfilment.reversed_percentage", "customer_id",
    ]

    private static let transactions: [Question] = [
        Question(
            name: "transactions list",
            summary: "Lists a customer's transactions, the newest first.",
            path: "/v1/customers/{}/transactions",
            words: "CUSTOMER",
            rows: .init(member: "transactions", columns: columns, place: "after"),
            examples: [("assay transactions list anna --all --json", "all of them, a line each")]
        ),
        Question(
            name: "transactions show",
            summary: "Shows a transaction on every side of the wall where it is recorded.",
            path: "/v1/transactions/{}",
            words: "ID",
            rows: .init(member: "transactions", columns: columns),
            examples: [("assay transactions show 2000000123456789 --json | jq .", "with every member")]
        ),
        Question(
            name: "transactions transfer",
            summary: "Gives a chain of transactions to another customer.",
            isChange: true,
            path: "/v1/transfers",
            fields: [
                .text("original", "ID", "The chain, by its first transaction.", as: "original_transaction_id").needed,
                .text("to", "CUSTOMER", "Who is to have it.", as: "to_customer_id").needed,
                .fixed(
                    "overrule-account-token",
                    "Also where Apple signed it for another customer.",
                    as: "overrule_account_token"
                ),
                .fixed("dry-run", "Only say what would become of it.", as: "dry_run"),
            ] + Questions.sides,
            examples: [("assay transactions transfer --original 2000000123456789 --to bert --dry-run", "first look")]
        ),
    ]

    private static let deliveries: [Question] = [
        Question(
            name: "deliveries waiting",
            summary: "Lists what was bought and waits for an order, a customer or a catalogue.",
            path: "/v1/purchases/waiting",
            rows: .init(
                member: "purchases",
                columns: ["delivery_id", "state", "reason", "customer_id", "product_id", "decided_at"],
                place: "after"
            ),
            examples: [("assay deliveries waiting --all", "what support should look at")]
        ),
        Question(
            name: "deliveries show",
            summary: "Shows a delivery as it stands.",
            path: "/v1/deliveries/{}",
            words: "ID",
            examples: [("assay deliveries show dlv_0123", "whether the shop has acknowledged it")]
        ),
        Question(
            name: "deliveries ack",
            summary: "Says that the shop has delivered.",
            isChange: true,
            path: "/v1/deliveries/{}/ack",
            words: "ID",
            fields: [.whole("fence", "The fence that came with it; an old one is refused.", as: "fence").needed],
            examples: [("assay deliveries ack dlv_0123 --fence 1", "after delivering by hand")]
        ),
    ]
}
