import HTTP
import Pipeline
import PurchaseModel
import Storage

/// One endpoint: what it is sent, how it answers, and what can be done about it.
struct EndpointPage: Sendable {
    static let deliveriesShown = 50

    let parts: DashboardParts

    struct Found: Sendable {
        let endpoint: WebhookEndpoint
        let figures: WebhookFigures?
        let page: WebhookDeliveryPage
    }

    /// What stands above the facts, after something was tried.
    struct Note: Sendable {
        var refusal: Refusal?
        /// What was done, in a sentence.
        var sentence: String?
        /// A secret that nobody sees again.
        var secret: String?
        /// How a replay of many goes on.
        var rest: ReplayForm?
    }

    func show(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        try await page(visit, visit.fields["id"], Note())
    }

    /// The page of an endpoint of a configured app.
    func page(_ visit: Visit, _ text: String, _ note: Note) async throws(StoreFailure) -> HTTPResponse {
        guard let id = WebhookEndpointID(text) else { return Notices.notFound("endpoint", visit) }
        let state = Self.state(visit.fields["state"])
        let before = Int64(visit.fields["before"]).map(EventCursor.init(position:))
        let apps = parts.apps
        let found = try await parts.store.read { reader throws(StoreFailure) -> Found? in
            guard let endpoint = try reader.endpoint(id), apps.contains(endpoint.app) else { return nil }
            return Found(
                endpoint: endpoint,
                figures: try reader.webhookFigures(id),
                page: try reader.deliveries(endpoint: id, state: state, before: before, limit: Self.deliveriesShown)
            )
        }
        guard let found else { return Notices.notFound("endpoint", visit) }
        return Page("Endpoint", place: Address("/webhooks"), visit: visit) {
            said(note, visit, found.endpoint)
            facts(found, at: visit.now)
            if visit.may(.operator) { EndpointForms(visit: visit, endpoint: found.endpoint).html }
            deliveries(found.page, state, id)
        }.response(note.refusal?.status ?? .ok)
    }

    /// Only the dead ones have an index of their own.
    private static func state(_ word: String) -> DeliveryState? { word == "dead" ? .dead : nil }

    @HTMLBuilder private func said(_ note: Note, _ visit: Visit, _ endpoint: WebhookEndpoint) -> HTML {
        Form.fault(note.refusal?.sentence)
        if let sentence = note.sentence { element("p", .class("said"), .word("role", "status")) { sentence } }
        if let secret = note.secret {
            element("p") { "The new secret. This page is the only one that shows it:" }
            element("pre", .word("tabindex", "0"), .class("secret")) { secret }
        }
        if let rest = note.rest {
            visit.formOnce(Address("/webhook/replay"), label: "Go on with the next") {
                Form.hidden("id", endpoint.id.text)
                rest.hidden
            }
        }
    }

    private func facts(_ found: Found, at now: Timestamp) -> HTML {
        let endpoint = found.endpoint
        let missed = MissedEvents(of: endpoint)
        return element("dl", .class("facts")) {
            Texts.fact("URL", Texts.cut(endpoint.url, to: 3_000))
            Texts.fact("App", endpoint.app.text)
            Texts.fact("Id", endpoint.id.text)
            Texts.fact("State", WebhookPages.state(endpoint, parts, at: now))
            Texts.fact("Disabled since", endpoint.disabledAt)
            Texts.fact("Missed what happened from", missed?.from)
            Texts.fact("Missed what happened until", missed?.to)
            Texts.fact(
                "Left alone until",
                parts.server.sender?.standing(of: endpoint.id)?.closedUntil(at: now)
            )
            Texts.fact("Events", endpoint.filter.types.map { $0.sorted().joined(separator: ", ") } ?? "all")
            Texts.fact("Stores", WebhookPages.stores(endpoint.filter))
            Texts.fact("In order", endpoint.ordersPerCustomer ? "each customer's" : "no")
            Texts.fact("A 2xx acknowledges", endpoint.acknowledgesBy2xx ? "yes" : "no")
            Texts.fact("At once", "\(endpoint.concurrencyMax) at most")
            Texts.fact("In a second", endpoint.perSecondMax.map { "\($0) at most" })
            Texts.fact("Secrets in use", String(endpoint.secrets.count))
            Texts.fact("Made", endpoint.createdAt)
            Texts.fact("Waiting", Texts.count(found.figures?.backlog ?? 0))
            Texts.fact("Oldest waits since", found.figures?.oldest)
            Texts.fact("Failed", Texts.count(found.figures?.dead ?? 0))
            Texts.fact("Only failures since", found.figures?.failingSince)
        }
    }

    @HTMLBuilder private func deliveries(
        _ page: WebhookDeliveryPage,
        _ state: DeliveryState?,
        _ id: WebhookEndpointID
    ) -> HTML {
        element("h2") { "Deliveries" }
        element("p") {
            "Show: "
            if state == nil {
                element("strong") { "all" }
                " · "
                element("a", .href(WebhookPages.address(id, [(name: "state", value: "dead")]))) { "failed" }
            } else {
                element("a", .href(WebhookPages.address(id))) { "all" }
                " · "
                element("strong") { "failed" }
            }
        }
        let headings: [Table.Heading] = [
            "Event", "State", .number("Attempts"), .number("Last status"), "Next try", "Ended",
        ]
        Table("Deliveries, the newest event first", headings) {
            for delivery in page.deliveries { row(delivery) }
        }.html
        if let next = page.next {
            let more = [
                (name: "state", value: state.map { _ in "dead" }), (name: "before", value: String(next.position)),
            ]
            element("p") { element("a", .href(WebhookPages.address(id, more))) { "Older" } }
        }
    }

    private func row(_ delivery: WebhookDelivery) -> HTML {
        element("tr") {
            element("th", .word("scope", "row")) {
                Links.link(DeliveryPage.address(delivery.id), delivery.id.event.text)
            }
            element("td") { DeliveryPage.state(delivery) }
            element("td", .class("number")) { String(delivery.attempts) }
            element("td", .class("number")) { delivery.lastStatus.map { String($0) } ?? "" }
            element("td") { if delivery.state == .pending { Texts.moment(delivery.dueAt) } }
            element("td") { if let ended = delivery.endedAt { Texts.moment(ended) } }
        }
    }
}
