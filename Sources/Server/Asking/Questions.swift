/// Every operation of the API that is a command, by noun. What the API gets anew gets its line here.
enum Questions {
    static let all =
        ShopQuestions.all + CustomerQuestions.all + DeliveryQuestions.all + AccessQuestions.all + FigureQuestions.all
        + OperatingQuestions.all

    /// Which side of the wall.
    static let sides: [Question.Field] = [
        .text("environment", "STORE", "production if not given, sandbox, xcode or local_testing.", as: "environment"),
        .fixed("test-signed", "What only a test authority vouches for.", as: "test_signed"),
    ]

    /// The same where all are shown if none is named.
    static let filters: [Question.Field] = [
        .text(
            "environment",
            "STORE",
            "Only production, sandbox, xcode or local_testing, and nothing test-signed.",
            as: "environment"
        ),
        .fixed("test-signed", "Only what a test authority vouches for: of all, or of STORE.", as: "test_signed"),
    ]
}
