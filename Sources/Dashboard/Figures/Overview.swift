import HTTP
import PurchaseModel
import Storage

/// What there is, at a glance.
struct Overview: Sendable {
    let parts: DashboardParts

    private struct Found: Sendable {
        let figures: StoreFigures
        let scope: FigureScope?
        var summary = FigureSummary()
        var charts: [Chart] = []
        var revenue: Chart?
    }

    func show(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        let parts = parts
        let ofStore = await parts.server.simulator?.time()
        let found = try await parts.store.read { reader throws(StoreFailure) -> Found in
            let scope = try FigureScope(parts, visit, ofStore: ofStore, reader)
            var found = Found(figures: try reader.figures(), scope: scope)
            guard let scope else { return found }
            let now = scope.now
            found.summary = try reader.figureSummary(app: scope.app, realm: scope.realm, at: now)
            for name in [ChartName.purchases, .refunds, .renewalsDue] {
                found.charts.append(try reader.chart(scope.question(name, FigureSummary.days), at: now))
            }
            if let currency = found.summary.currencies.first {
                let question = scope.question(.revenue, FigureSummary.days, currency)
                found.revenue = try reader.chart(question, at: now)
            }
            return found
        }
        return Page("Overview", place: Address(""), visit: visit) {
            if let scope = found.scope { figures(found, scope) }
            element("h2") { "In the ledger" }
            element("dl", .class("figures")) {
                FigurePieces.figure("Transactions recorded", Int64(found.figures.transactions))
                FigurePieces.figure("Proofs kept", Int64(found.figures.evidence))
                FigurePieces.figure("Submissions kept", Int64(found.figures.submissions))
                FigurePieces.figure("Of them undecided", Int64(found.figures.pendingSubmissions))
            }
        }.response()
    }

    @HTMLBuilder private func figures(_ found: Found, _ scope: FigureScope) -> HTML {
        let summary = found.summary
        scope.choice("")
        FigurePieces.gaps(summary)
        element("dl", .class("figures")) {
            FigurePieces.figure("Purchases, \(FigureSummary.days) days", summary.purchases)
            FigurePieces.figure("Refunds, \(FigureSummary.days) days", summary.refunds)
            FigurePieces.figure("Active subscriptions", summary.subscriptions[.active] ?? 0)
            FigurePieces.figure("In grace or billing retry", trouble(summary))
            FigurePieces.figure("Renewals due, \(FigureSummary.days) days", summary.renewalsDue)
        }
        FigurePieces.money(summary, scope)
        if let revenue = found.revenue {
            ChartFigure(chart: revenue, subject: summary.currencies.first ?? "").html
        }
        for chart in found.charts { ChartFigure(chart: chart).html }
    }

    private func trouble(_ summary: FigureSummary) -> Int64 {
        (summary.subscriptions[.grace] ?? 0) + (summary.subscriptions[.billingRetry] ?? 0)
    }
}
