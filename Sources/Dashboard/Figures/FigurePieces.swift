import PurchaseModel
import Storage

/// Figures that several pages show alike.
enum FigurePieces {
    static func figure(_ name: String, _ text: String) -> HTML {
        element("div") {
            element("dt") { name }
            element("dd") { text }
        }
    }

    static func figure(_ name: String, _ count: Int64) -> HTML { figure(name, Texts.count(Int(count))) }

    @HTMLBuilder static func states(_ summary: FigureSummary) -> HTML {
        element("dl", .class("figures")) {
            for state in SubscriptionState.allCases where state != .unknown || (summary.subscriptions[state] ?? 0) > 0 {
                figure(name(state), summary.subscriptions[state] ?? 0)
            }
        }
    }

    static func name(_ state: SubscriptionState) -> String {
        switch state {
        case .active: "Active"
        case .expired: "Expired"
        case .billingRetry: "Billing retry"
        case .grace: "Grace period"
        case .revoked: "Revoked"
        case .unknown: "Unknown"
        }
    }

    @HTMLBuilder static func money(_ summary: FigureSummary, _ scope: FigureScope) -> HTML {
        if !summary.currencies.isEmpty {
            let amounted = ["Gross", "Refunded", "Upgrade credit", "Net", "MRR"]
            let headings = ["Currency"] + amounted.map(Table.Heading.number)
            Table("Revenue of the last \(FigureSummary.days) days, by currency", headings) {
                for currency in summary.currencies.prefix(40) {
                    element("tr") {
                        element("th", .word("scope", "row")) {
                            let more: [(name: String, value: String?)] = [(name: "currency", value: currency)]
                            element("a", .href(scope.address("/revenue", more))) { currency }
                        }
                        for amount in amounts(summary, currency) {
                            element("td", .class("number")) { ChartText.money(amount) }
                        }
                    }
                }
            }.html
        }
    }

    private static func amounts(_ summary: FigureSummary, _ currency: String) -> [Int64] {
        [
            summary.revenue[currency] ?? 0, summary.refunded[currency] ?? 0, summary.upgradeCredit[currency] ?? 0,
            summary.net(currency), summary.recurring[currency] ?? 0,
        ]
    }

    static var uncounted: HTML {
        element("p", .class("fault")) {
            "Some of what an older version recorded is not counted yet as it is now: assay rebuild --apply counts it."
        }
    }

    /// What is known to be missing from the figures of a page.
    @HTMLBuilder static func gaps(_ summary: FigureSummary) -> HTML {
        if summary.isIncomplete { uncounted }
        if summary.priceUnknown > 0 || summary.recurringUnknown > 0 {
            element("p", .class("quiet")) {
                "No signed fact says the price of \(Texts.count(Int(summary.priceUnknown))) purchases of these days, and of "
                "\(Texts.count(Int(summary.recurringUnknown))) paid periods that ran when the month began: their money is "
                "in no sum."
            }
        }
    }
}
