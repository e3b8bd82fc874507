import HTTP
import PurchaseModel
import Storage

/// How subscriptions stand, which they are, and how they come and go.
struct SubscriptionPages: Sendable {
    private static let rows = 25
    private static let months: Int64 = 365
    /// For how long it is shown what became of failed renewals: longer than Apple tries to charge.
    private static let triedDays: Int64 = 90
    private static let monthly: [ChartName] = [.subscribers, .churn, .renewalRate, .trialConversion, .recoveryRate]
    private static let daily: [ChartName] = [.renewalsDue, .trials, .billing]

    let parts: DashboardParts

    private struct Found: Sendable {
        let scope: FigureScope?
        var summary = FigureSummary()
        var page = SubscriptionPage()
        var charts: [Chart] = []
        var cohorts: [Cohort] = []
    }

    func show(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        let parts = parts
        let ofStore = await parts.server.simulator?.time()
        let state = SubscriptionState(rawValue: visit.fields["state"]) ?? .active
        let after = TransactionID(visit.fields["after"])
        let found = try await parts.store.read { reader throws(StoreFailure) -> Found in
            var found = Found(scope: try FigureScope(parts, visit, ofStore: ofStore, reader))
            guard let scope = found.scope else { return found }
            let now = scope.now
            found.summary = try reader.figureSummary(app: scope.app, realm: scope.realm, at: now)
            found.page = try reader.subscriptions(
                app: scope.app,
                realm: scope.realm,
                state: state,
                after: after,
                limit: Self.rows
            )
            for name in Self.monthly {
                found.charts.append(try reader.chart(scope.question(name, Self.months), at: now))
            }
            for name in Self.daily {
                found.charts.append(try reader.chart(scope.question(name, FigureSummary.days), at: now))
            }
            found.charts.append(try reader.chart(scope.question(.recovery, Self.triedDays), at: now))
            found.cohorts = try reader.cohorts(app: scope.app, realm: scope.realm, months: 13, at: now)
            return found
        }
        guard let scope = found.scope else { return Notices.notFound("app", visit) }
        return Page("Subscriptions", place: Address("/subscriptions"), visit: visit) {
            scope.choice("/subscriptions")
            FigurePieces.gaps(found.summary)
            FigurePieces.states(found.summary)
            list(found.page, state, scope)
            for chart in found.charts { ChartFigure(chart: chart).html }
            CohortTable(cohorts: found.cohorts).html
        }.response()
    }

    @HTMLBuilder private func list(_ page: SubscriptionPage, _ shown: SubscriptionState, _ scope: FigureScope) -> HTML {
        element("p") {
            "Show: "
            for state in SubscriptionState.allCases {
                if state == shown {
                    element("strong") { FigurePieces.name(state) }
                } else {
                    let more: [(name: String, value: String?)] = [(name: "state", value: state.rawValue)]
                    element("a", .href(scope.address("/subscriptions", more))) { FigurePieces.name(state) }
                }
                " "
            }
        }
        let headings = ["Subscription", "Product", "Since", "Paid until", "Renews", "Signed of its renewal"]
        Table("Subscriptions: \(FigurePieces.name(shown))", headings) {
            for row in page.subscriptions { self.row(row) }
        }.html
        if let next = page.next {
            let more: [(name: String, value: String?)] = [
                (name: "state", value: shown.rawValue), (name: "after", value: next.description),
            ]
            element("p") { element("a", .href(scope.address("/subscriptions", more))) { "More" } }
        }
    }

    private func row(_ row: RecordedSubscription) -> HTML {
        element("tr") {
            element("th", .word("scope", "row")) {
                Links.link(Links.transaction(row.chain.app, row.chain.original), row.chain.original.description)
            }
            element("td") { element("bdi") { row.product.text } }
            element("td") { if let since = row.since { Texts.moment(since) } }
            element("td") { if let end = row.expiresAt { Texts.moment(end) } }
            element("td") { row.willAutoRenew.map { $0 ? "yes" : "no" } ?? "not known" }
            element("td") { if let signed = row.renewal?.signedAt { Texts.moment(signed) } }
        }
    }
}
