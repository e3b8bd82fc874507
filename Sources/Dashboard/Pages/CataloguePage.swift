import HTTP
import Pipeline
import PurchaseModel
import Storage

/// What an app sells as it is configured, what each product gives, and how often it was sold.
struct CataloguePage: Sendable {
    private static let rows = 50
    private static let days: Int64 = 365
    /// Of what one product gives.
    private static let goodsShown = 300

    let parts: DashboardParts

    /// How often one product was sold lately.
    private struct Sales: Sendable {
        var bought: Int64 = 0
        var renewed: Int64 = 0
        var refunded: Int64 = 0
    }

    private struct Found: Sendable {
        let scope: FigureScope?
        var sales: [ProductID: Sales] = [:]
    }

    func show(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        let parts = parts
        let ofStore = await parts.server.simulator?.time()
        let found = try await parts.store.read { reader throws(StoreFailure) -> Found in
            var found = Found(scope: try FigureScope(parts, visit, ofStore: ofStore, reader))
            guard let scope = found.scope else { return found }
            found.sales = try Self.sales(scope, reader)
            return found
        }
        guard let scope = found.scope else { return Notices.notFound("app", visit) }
        let terms = parts.policy(scope.app)?.terms.products
        let products = Set(found.sales.keys).union((terms ?? [:]).keys).sorted()
        let after = ProductID(visit.fields["after"])
        let shown = products.drop { product in after.map { product <= $0 } ?? false }.prefix(Self.rows)
        return Page("Catalogue", place: Address("/catalogue"), visit: visit) {
            scope.choice("/catalogue")
            if terms == nil {
                element("p", .class("quiet")) {
                    "This app has no catalogue: every product of it is taken, and none gives anything."
                }
            }
            table(shown.map { ($0, terms?[$0], found.sales[$0] ?? Sales()) }, hasTerms: terms != nil)
            if let last = shown.last, last != products.last {
                element("p") {
                    element("a", .href(scope.address("/catalogue", [(name: "after", value: last.text)]))) { "More" }
                }
            }
        }.response()
    }

    private static func sales(
        _ scope: FigureScope,
        _ reader: any StoreReader
    ) throws(StoreFailure) -> [ProductID: Sales] {
        let today = DayOfTime(containing: scope.now)
        let span = today.advanced(by: 1 - days)...today
        var sales: [ProductID: Sales] = [:]
        let columns: [(Measure, WritableKeyPath<Sales, Int64>)] = [
            (.firstPurchases, \.bought), (.trials, \.bought), (.renewals, \.renewed), (.refunds, \.refunded),
        ]
        for (measure, column) in columns {
            let question = FigureQuestion(
                app: scope.app,
                realm: scope.realm,
                measure: measure,
                days: span,
                by: [.product]
            )
            for row in try reader.figures(question) {
                guard let product = row.product else { continue }
                sales[product, default: Sales()][keyPath: column] += row.amount
            }
        }
        return sales
    }

    private func table(_ rows: [(ProductID, ProductTerms?, Sales)], hasTerms: Bool) -> HTML {
        let headings: [Table.Heading] = [
            "Product", "Kind", "Gives", .number("Bought"), .number("Renewed"), .number("Refunded"),
        ]
        return Table("Products, with what was sold in \(Self.days) days, trials among it", headings) {
            for (product, terms, sales) in rows {
                element("tr") {
                    element("th", .word("scope", "row")) { element("bdi") { product.text } }
                    element("td") { terms.map(Self.kind) ?? (hasTerms ? "not in the catalogue" : "") }
                    element("td") { element("bdi") { terms.map(Self.goods) ?? "" } }
                    for count in [sales.bought, sales.renewed, sales.refunded] {
                        element("td", .class("number")) { Texts.count(Int(count)) }
                    }
                }
            }
        }.html
    }

    private static func kind(_ terms: ProductTerms) -> String {
        var words = [terms.kind.rawValue]
        if let period = terms.period { words.append("of \(period.components.seconds / 86_400) days") }
        if terms.isFamilyShared { words.append("shared with the family") }
        if terms.deliversExpired { words.append("also given when it came late") }
        if let binding = terms.binding { words.append("of another's: \(binding.rawValue)") }
        return words.joined(separator: ", ")
    }

    private static func goods(_ terms: ProductTerms) -> String {
        let goods = terms.goods.map { goods in
            switch goods {
            case .entitlement(let id): id.text
            case .amount(let amount, let currency): "\(amount) \(currency.text)"
            }
        }
        return goods.isEmpty ? "nothing" : Texts.cut(goods.joined(separator: ", "), to: goodsShown)
    }
}
