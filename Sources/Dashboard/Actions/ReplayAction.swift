import HTTP
import Pipeline
import PurchaseModel
import Storage

/// Has an event sent again to a webhook.
struct ReplayAction: OperatorAction {
    static let path: StaticString = "/replay"
    static let word = "event_replayed"

    private let app: AppID
    private let id: WebhookDeliveryID
    let back: Address

    init?(_ fields: FormFields) {
        guard let app = AppID(fields["app"]), let event = EventID(fields["event"]),
            let endpoint = WebhookEndpointID(fields["webhook"]), let back = Address(returning: fields["back"])
        else { return nil }
        (self.app, self.back) = (app, back)
        id = WebhookDeliveryID(endpoint: endpoint, event: event)
    }

    func propose(
        _ parts: DashboardParts,
        _ write: any StoreTransaction,
        at now: Timestamp
    ) throws(StoreFailure) -> Proposal? {
        guard let endpoint = try write.endpoint(id.endpoint), endpoint.app == app,
            let placed = try write.event(app: app, id: id.event), parts.policy(app) != nil
        else { return nil }
        let delivery = try write.delivery(id)
        return Proposal(
            title: "Send an event again",
            subject: "event \(id.event.text)",
            detail: "to \(id.endpoint.text)",
            hidden: [
                (name: "app", value: app.text), (name: "event", value: id.event.text),
                (name: "webhook", value: id.endpoint.text), (name: "back", value: back.text),
            ],
            facts: facts(endpoint, placed.event, delivery),
            fault: try replay(endpoint).fault(write, at: now).map(ActionFault.replay)
        )
    }

    func carryOut(
        _ parts: DashboardParts,
        _ write: any StoreTransaction,
        because motive: Motive,
        at now: Timestamp
    ) throws(StoreFailure) -> ActionFault? {
        guard let endpoint = try write.endpoint(id.endpoint) else { return .request(.unknown) }
        return try replay(endpoint).carryOut(write, at: now).map(ActionFault.replay)
    }

    func follow(_ parts: DashboardParts) { parts.server.sender?.reopen(id.endpoint) }

    private func replay(_ endpoint: WebhookEndpoint) -> EventReplay { EventReplay(of: id.event, to: endpoint) }

    @HTMLBuilder private func facts(
        _ endpoint: WebhookEndpoint,
        _ event: EventRow,
        _ delivery: WebhookDelivery?
    ) -> HTML {
        element("dl", .class("facts")) {
            Texts.fact("App", app.text)
            Texts.fact("Event", event.id.text)
            Texts.fact("Type", event.type)
            Texts.fact("Happened", event.happenedAt)
            Texts.fact("Of customer", event.customer?.text)
            Texts.fact("To", endpoint.url)
            if let delivery {
                Texts.fact("Stands at", DeliveryPage.state(delivery))
                Texts.fact("Ended", delivery.endedAt)
            }
        }
        element("p") {
            "The same message is sent once more, under the same name: a shop that looks at names takes it once."
        }
        if !endpoint.isEnabled {
            element("p", .class("fault")) { "The webhook is off: it is sent when it is on again." }
        }
    }
}
