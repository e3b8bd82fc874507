import HTTP
import Pipeline
import PurchaseModel
import Storage

/// Where an app's events are sent to, and how each endpoint does.
struct WebhookPages: Sendable {
    /// URLs are somebody's choice.
    static let urlShown = 200

    let parts: DashboardParts

    private struct Row: Sendable {
        let endpoint: WebhookEndpoint
        let figures: WebhookFigures?
    }

    func list(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        guard let app = AppChoice.app(visit, parts) else { return Notices.notFound("app", visit) }
        let rows = try await parts.store.read { reader throws(StoreFailure) in
            try reader.endpoints(app: app).map { endpoint throws(StoreFailure) in
                Row(endpoint: endpoint, figures: try reader.webhookFigures(endpoint.id))
            }
        }
        return Page("Webhooks", place: Address("/webhooks"), visit: visit) {
            AppChoice.links("/webhooks", app, parts)
            if rows.isEmpty {
                element("p") { "This app's events are sent nowhere yet: POST /v1/webhooks makes an endpoint." }
            } else {
                let headings: [Table.Heading] = [
                    "Endpoint", "State", "Stores", .number("Waiting"), .number("Failed"), "Oldest waits since",
                ]
                Table("Endpoints, in the order in which they were made", headings) {
                    for row in rows { self.row(row, at: visit.now) }
                }.html
            }
        }.response()
    }

    private func row(_ row: Row, at now: Timestamp) -> HTML {
        element("tr") {
            element("th", .word("scope", "row")) {
                Links.link(Self.address(row.endpoint.id), Texts.cut(row.endpoint.url, to: Self.urlShown))
            }
            element("td") { Self.state(row.endpoint, parts, at: now) }
            element("td") { Self.stores(row.endpoint.filter) }
            element("td", .class("number")) { Texts.count(row.figures?.backlog ?? 0) }
            element("td", .class("number")) { Texts.count(row.figures?.dead ?? 0) }
            element("td") { if let oldest = row.figures?.oldest { Texts.moment(oldest) } }
        }
    }

    static func address(_ id: WebhookEndpointID, _ more: [(name: String, value: String?)] = []) -> Address {
        Address("/webhook", [(name: "id", value: id.text)] + more)
    }

    /// Whether it is sent anything, and why not.
    static func state(_ endpoint: WebhookEndpoint, _ parts: DashboardParts, at now: Timestamp) -> String {
        guard endpoint.isEnabled else { return "disabled: \(reason(endpoint.disabledReason))" }
        guard let gate = parts.server.sender?.standing(of: endpoint.id), gate.isOpen else { return "on" }
        return gate.closedUntil(at: now) == nil
            ? "on; the next message tries whether it answers again" : "on; left alone for a while after failures"
    }

    private static func reason(_ word: String?) -> String {
        switch word {
        case WebhookEndpoint.byRequest: "by request"
        case DeliveryOutcome.goneReason: "it answered 410"
        case WebhookSchedule.hopeless: "it only failed for five days"
        default: word ?? "from the start"
        }
    }

    static func stores(_ filter: EventFilter) -> String {
        filter.realms.map(Texts.realm).sorted().joined(separator: "; ")
    }
}
