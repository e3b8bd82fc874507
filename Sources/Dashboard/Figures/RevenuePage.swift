import HTTP
import PurchaseModel
import Storage

/// What was earned in one currency, and what comes back each month.
struct RevenuePage: Sendable {
    private static let months: Int64 = 365
    private static let monthly: [ChartName] = [.recurring, .movements, .refundRate]

    let parts: DashboardParts

    private struct Found: Sendable {
        let scope: FigureScope?
        var summary = FigureSummary()
        var currency: String?
        var charts: [Chart] = []
    }

    func show(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        let parts = parts
        let ofStore = await parts.server.simulator?.time()
        let found = try await parts.store.read { reader throws(StoreFailure) -> Found in
            var found = Found(scope: try FigureScope(parts, visit, ofStore: ofStore, reader))
            guard let scope = found.scope else { return found }
            let now = scope.now
            found.summary = try reader.figureSummary(app: scope.app, realm: scope.realm, at: now)
            let wanted = visit.fields["currency"]
            let known = found.summary.currencies
            found.currency = known.contains { $0.utf8.elementsEqual(wanted.utf8) } ? wanted : known.first
            for (name, days) in [(ChartName.revenue, FigureSummary.days), (.valueDue, FigureSummary.days)] {
                found.charts.append(try reader.chart(scope.question(name, days, found.currency), at: now))
            }
            for name in Self.monthly {
                let question = scope.question(name, Self.months, found.currency)
                found.charts.append(try reader.chart(question, at: now))
            }
            return found
        }
        guard let scope = found.scope else { return Notices.notFound("app", visit) }
        return Page("Revenue", place: Address("/revenue"), visit: visit) {
            scope.choice("/revenue")
            FigurePieces.gaps(found.summary)
            FigurePieces.money(found.summary, scope)
            if let currency = found.currency {
                for chart in found.charts {
                    ChartFigure(chart: chart, subject: chart.name.unit == .milliunits ? currency : "").html
                }
            } else {
                element("p") { "No price was signed for anything that was sold here lately." }
            }
        }.response()
    }
}
