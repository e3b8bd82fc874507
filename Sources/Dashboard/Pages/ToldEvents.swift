import Encoding
import Pipeline
import PurchaseModel
import Storage

/// What the shop was told lately of a customer, and how far that has come on its way to each webhook.
struct ToldEvents: Sendable {
    /// How many of a customer's last events are looked at for those of one purchase.
    private static let lookedAtMax: Int64 = 100
    private static let shownMax = 10
    private static let endpointsMax = 10

    private struct Told: Sendable {
        let event: EventRow
        let deliveries: [Told.Way]

        struct Way: Sendable {
            let endpoint: WebhookEndpointID
            let delivery: WebhookDelivery?
            /// Whether the endpoint is for such events.
            let isWanted: Bool
        }
    }

    private var told: [Told] = []
    private let app: AppID
    private let realm: Realm

    /// - Parameters:
    ///   - stream: whose events.
    ///   - key: the purchase that they are to be about; `nil` for any.
    ///   - reader: where they are.
    /// - Throws: `StoreFailure`.
    init(
        _ stream: StreamKey,
        about key: TransactionKey? = nil,
        _ reader: any StoreReader
    ) throws(StoreFailure) {
        (app, realm) = (stream.app, stream.realm)
        let endpoints = try reader.endpoints(app: app).prefix(Self.endpointsMax)
        let last = try reader.lastEventSequence(app: app, realm: stream.realm, customer: stream.customer)
        var sequence = last
        while sequence > 0, sequence > last - Self.lookedAtMax, told.count < Self.shownMax {
            if let event = try reader.event(app: app, id: EventRows.id(stream, sequence))?.event,
                key.map({ Self.is(event, about: $0) }) ?? true
            {
                var deliveries: [Told.Way] = []
                for endpoint in endpoints {
                    let delivery = try reader.delivery(WebhookDeliveryID(endpoint: endpoint.id, event: event.id))
                    let isWanted = endpoint.filter.includes(event)
                    deliveries.append(Told.Way(endpoint: endpoint.id, delivery: delivery, isWanted: isWanted))
                }
                told.append(Told(event: event, deliveries: deliveries))
            }
            sequence -= 1
        }
    }

    /// By what stands in its message, which we wrote.
    private static func `is`(_ event: EventRow, about key: TransactionKey) -> Bool {
        guard let data = try? JSONDocument(event.data).root.object else { return false }
        let delivery = data["delivery"]?.object?["delivery_id"]?.string
        let transaction = data["transaction"]?.object?["transaction_id"]?.string
        return delivery == DeliveryID(key).description || transaction == key.id.description
    }

    /// - Parameters:
    ///   - visit: who looks: an operator can have an event sent again.
    ///   - back: the page that it stands on.
    /// - Returns: a table; nothing when nothing was told.
    @HTMLBuilder func html(_ visit: Visit, _ back: Address) -> HTML {
        if !told.isEmpty {
            Table("What the shop was told last, in \(Texts.realm(realm))", ["When", "What", "Event", "Webhooks"]) {
                for told in told {
                    element("tr") {
                        element("td") { Texts.moment(told.event.learnedAt) }
                        element("th", .word("scope", "row")) { told.event.type }
                        element("td") { told.event.id.text }
                        element("td") {
                            if told.deliveries.isEmpty { "none" }
                            for way in told.deliveries {
                                element("p") {
                                    "\(way.endpoint.text): \(way.delivery.map(DeliveryPage.state) ?? "not sent there") "
                                    if visit.may(.operator), way.delivery != nil || way.isWanted {
                                        let id = WebhookDeliveryID(endpoint: way.endpoint, event: told.event.id)
                                        element("a", .href(OperatorLinks.replay(app, id, back: back))) { "Send again" }
                                    }
                                }
                            }
                        }
                    }
                }
            }.html
        }
    }
}
