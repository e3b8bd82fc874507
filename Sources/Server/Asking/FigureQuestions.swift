import PurchaseModel

/// Figures over time.
enum FigureQuestions {
    static let all: [Question] = [
        Question(
            name: "charts overview",
            summary: "Shows how sales and subscriptions stand.",
            path: "/v1/metrics/overview",
            fields: Questions.sides,
            examples: [("assay charts overview", "the last days in one look")]
        ),
        Question(
            name: "charts show",
            summary: "Shows one chart: its definition, its points, and what is drawn over them.",
            path: "/v1/charts/{}",
            words: "NAME",
            fields: [
                .text("from", "DAY", "The first day, such as 2026-11-01.", as: "from"),
                .text("to", "DAY", "The last day; today if not given.", as: "to"),
                .text("currency", "CODE", "Three capitals, for what is money.", as: "currency"),
            ] + Questions.sides,
            notes: ["Charts are \(ChartName.allCases.map(\.rawValue).joined(separator: ", "))."],
            examples: [("assay charts show revenue --currency USD --from 2026-11-01", "what came in, day by day")]
        ),
    ]
}
