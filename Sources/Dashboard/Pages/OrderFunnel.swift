import PurchaseModel
import Storage

/// How far the orders of some days have come, and the deliveries of what was bought in them: from the figures, whatever
/// the number of orders.
struct OrderFunnel: Sendable {
    private struct Step: Sendable {
        let name: String
        let count: Int64
        let definition: String
    }

    private let orders: [Step]
    private let ended: [Step]
    private let deliveries: [Step]

    /// - Parameters:
    ///   - app: whose.
    ///   - realm: of which store deliveries are counted; `nil` for all.
    ///   - days: when orders were placed, and purchases made.
    ///   - reader: where the figures are.
    /// - Throws: `StoreFailure`.
    init(
        _ app: AppID,
        _ realm: Realm?,
        _ days: ClosedRange<DayOfTime>,
        _ reader: any StoreReader
    ) throws(StoreFailure) {
        func sum(_ measure: Measure, _ realms: [Realm?]) throws(StoreFailure) -> Int64 {
            var sum: Int64 = 0
            for realm in realms {
                let question = FigureQuestion(app: app, realm: realm, measure: measure, days: days)
                for row in try reader.figures(question) { sum += row.amount }
            }
            return sum
        }
        orders = [
            Step(name: "Created", count: try sum(.ordersPlaced, [nil]), definition: "Placed on these days."),
            Step(
                name: "Paid",
                count: try sum(.ordersPaid, [nil]),
                definition: "Of these, those that a purchase pays, also if it was refunded since. What they are for "
                    + "was granted with it."
            ),
            Step(
                name: "Delivered",
                count: try sum(.ordersDelivered, [nil]),
                definition: "Of these, those whose delivery the shop has acknowledged, and no refund took back whole."
            ),
        ]
        ended = [
            Step(name: "Expired", count: try sum(.ordersExpired, [nil]), definition: "Nobody paid in time."),
            Step(name: "Cancelled", count: try sum(.ordersCancelled, [nil]), definition: "By the shop, or by hand."),
            Step(name: "Refunded", count: try sum(.ordersRefunded, [nil]), definition: "All of it was taken back."),
        ]
        let realms: [Realm?] = realm.map { [$0] } ?? Realm.known
        deliveries = [
            Step(
                name: "Granted",
                count: try sum(.granted, realms),
                definition: "Purchases of these days, with an order or without, for which something was given."
            ),
            Step(
                name: "Acknowledged",
                count: try sum(.acknowledged, realms),
                definition: "Of these, those of which the shop has said that it delivered them."
            ),
        ]
    }

    @HTMLBuilder var html: HTML {
        table("Orders placed in these days, of all stores", "Of all created", orders)
        table("Of them ended otherwise", "Of all created", ended, after: orders[0].count)
        table("Deliveries of purchases of these days", "Of all granted", deliveries)
    }

    private func table(_ caption: String, _ share: String, _ steps: [Step], after all: Int64? = nil) -> HTML {
        let isFunnel = all == nil
        let whole = all ?? steps[0].count
        let counted = ["Count", share] + (isFunnel ? ["Of the step before"] : [])
        let headings = ["Step"] + counted.map(Table.Heading.number) + ["What it counts"]
        return Table(caption, headings) {
            for (index, step) in steps.enumerated() {
                element("tr") {
                    element("th", .word("scope", "row")) { step.name }
                    element("td", .class("number")) { Texts.count(Int(step.count)) }
                    element("td", .class("number")) { Texts.share(Int(step.count), of: Int(whole)) }
                    if isFunnel {
                        element("td", .class("number")) {
                            Texts.share(Int(step.count), of: Int(steps[max(index - 1, 0)].count))
                        }
                    }
                    element("td") { step.definition }
                }
            }
        }.html
    }
}
