import HTTP
import PurchaseModel
import Storage

/// One event's way to one endpoint, with what was answered at each attempt.
struct DeliveryPage: Sendable {
    /// Each has up to a kilobyte of what somebody answered.
    private static let attemptsShown = 20
    private static let answerShown = 1_500

    let parts: DashboardParts

    private struct Found: Sendable {
        let endpoint: WebhookEndpoint
        let delivery: WebhookDelivery
        let event: EventRow?
        let attempts: [WebhookAttempt]
    }

    func show(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        guard let id = Self.id(visit.fields) else { return Notices.notFound("delivery", visit) }
        let apps = parts.apps
        let found = try await parts.store.read { reader throws(StoreFailure) -> Found? in
            guard let endpoint = try reader.endpoint(id.endpoint), apps.contains(endpoint.app),
                let delivery = try reader.delivery(id)
            else { return nil }
            return Found(
                endpoint: endpoint,
                delivery: delivery,
                event: try reader.event(app: endpoint.app, id: id.event)?.event,
                attempts: try reader.attempts(of: id, limit: Self.attemptsShown)
            )
        }
        guard let found else { return Notices.notFound("delivery", visit) }
        return Page("Delivery of \(id.event.text)", place: Address("/webhooks"), visit: visit) {
            facts(found)
            if found.delivery.state != .leased {
                let again = OperatorLinks.replay(found.endpoint.app, id, back: Self.address(id))
                OperatorLinks.list(visit, [("Send it again", again)])
            }
            attempts(found.attempts)
        }.response()
    }

    private static func id(_ fields: FormFields) -> WebhookDeliveryID? {
        guard let endpoint = WebhookEndpointID(fields["endpoint"]), let event = EventID(fields["event"]) else {
            return nil
        }
        return WebhookDeliveryID(endpoint: endpoint, event: event)
    }

    static func address(_ id: WebhookDeliveryID) -> Address {
        Address("/delivery", [(name: "endpoint", value: id.endpoint.text), (name: "event", value: id.event.text)])
    }

    /// How far it is, in words.
    static func state(_ delivery: WebhookDelivery) -> String {
        let status = delivery.lastStatus.map { ", last answer \($0)" } ?? ""
        return switch delivery.state {
        case .pending: (delivery.attempts == 0 ? "waits" : "waits for the next try") + status
        case .leased: "under way"
        case .delivered: "delivered" + status
        case .dead: "failed: \(delivery.deadReason ?? "no reason is kept")\(status)"
        }
    }

    private func facts(_ found: Found) -> HTML {
        let delivery = found.delivery
        return element("dl", .class("facts")) {
            element("dt") { "Endpoint" }
            element("dd") {
                Links.link(
                    WebhookPages.address(found.endpoint.id),
                    Texts.cut(found.endpoint.url, to: WebhookPages.urlShown)
                )
            }
            Texts.fact("Event", found.event?.type)
            if let customer = found.event?.customer {
                element("dt") { "Customer" }
                element("dd") { Links.link(Links.customer(found.endpoint.app, customer), customer.text) }
            }
            Texts.fact("Store", (found.event?.realm).map(Texts.realm))
            Texts.fact("State", Self.state(delivery))
            Texts.fact("Attempts", String(delivery.attempts))
            Texts.fact("Next try", delivery.state == .pending ? delivery.dueAt : nil)
            Texts.fact("Ended", delivery.endedAt)
        }
    }

    @HTMLBuilder private func attempts(_ attempts: [WebhookAttempt]) -> HTML {
        element("h2") { "Attempts" }
        if attempts.isEmpty {
            element("p") { "None yet." }
        } else {
            let headings: [Table.Heading] = ["Began", .number("Took"), "Answer", "From", "Its beginning"]
            Table("The last attempts, the newest first", headings) {
                for attempt in attempts {
                    element("tr") {
                        element("td") { Texts.moment(attempt.beganAt) }
                        element("td", .class("number")) { "\(Texts.count(attempt.milliseconds)) ms" }
                        element("th", .word("scope", "row")) {
                            attempt.status.map { String($0) } ?? attempt.failure ?? "none"
                        }
                        element("td") { attempt.address ?? "" }
                        element("td") {
                            element("bdi") {
                                // Whatever it was, as text: broken UTF-8 shows as such.
                                Texts.cut(String(decoding: attempt.answer, as: UTF8.self), to: Self.answerShown)
                            }
                        }
                    }
                }
            }.html
        }
    }
}
