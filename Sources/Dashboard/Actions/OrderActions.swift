import HTTP
import Pipeline
import PurchaseModel
import Storage

/// Ends the waiting of an order that nobody paid.
struct CancelAction: OperatorAction {
    static let path: StaticString = "/order/cancel"
    static let word = "order_cancelled"

    private let key: OrderKey
    /// The order's row as it was shown.
    private let version: Int64?

    init?(_ fields: FormFields) {
        guard let app = AppID(fields["app"]), let id = OrderID(fields["id"]) else { return nil }
        key = OrderKey(app: app, id: id)
        version = Int64(fields["version"])
    }

    var back: Address { Links.order(key.app, key.id) }

    func propose(
        _ parts: DashboardParts,
        _ write: any StoreTransaction,
        at now: Timestamp
    ) throws(StoreFailure) -> Proposal? {
        guard let order = try write.orders([key]).first else { return nil }
        var proposal = Proposal(
            title: "Cancel order \(key.id.text)",
            subject: "order \(key.id.text) of \(key.app.text)",
            detail: "from \(order.state.rawValue) to \(OrderState.cancelled.rawValue)",
            hidden: [
                (name: "app", value: key.app.text), (name: "id", value: key.id.text),
                (name: "version", value: String(order.version)),
            ],
            facts: facts(order)
        )
        if !order.mayBePaid { proposal.fault = order.state == .cancelled ? .done : .request(.orderIs(order.state)) }
        return proposal
    }

    func carryOut(
        _ parts: DashboardParts,
        _ write: any StoreTransaction,
        because motive: Motive,
        at now: Timestamp
    ) throws(StoreFailure) -> ActionFault? {
        guard let order = try write.orders([key]).first else { return .request(.unknown) }
        guard order.version == version else { return .changed }
        return ActionFault(of: try LedgerRequests.cancel(key, at: now, in: write))
    }

    @HTMLBuilder private func facts(_ order: Order) -> HTML {
        element("dl", .class("facts")) {
            Texts.fact("App", key.app.text)
            element("dt") { "Customer" }
            element("dd") { Links.link(Links.customer(key.app, order.customer), order.customer.text) }
            Texts.fact("Product", order.product.text)
            Texts.fact("Quantity", String(order.quantity))
            Texts.fact("State", order.state.rawValue)
            Texts.fact("Placed", order.placedAt)
        }
        element("p") {
            "No purchase pays it by itself any more, and the shop is told. This cannot be undone; but a person can still "
            "have a purchase pay it."
        }
    }
}

/// Notes that the shop has delivered, because a person knows.
struct AcknowledgeAction: OperatorAction {
    static let path: StaticString = "/acknowledge"
    static let word = "delivery_acknowledged"

    private let place: ActionPlace
    /// What was to be delivered when it was shown.
    private let fence: Int64?

    init?(_ fields: FormFields) {
        guard let place = ActionPlace(fields) else { return nil }
        self.place = place
        fence = Int64(fields["fence"])
    }

    var back: Address { place.back }

    func propose(
        _ parts: DashboardParts,
        _ write: any StoreTransaction,
        at now: Timestamp
    ) throws(StoreFailure) -> Proposal? {
        guard let recorded = try write.transactions([place.key]).first,
            let fulfilment = try place.fulfilment(of: recorded, write), let delivery = fulfilment.delivery
        else { return nil }
        var proposal = Proposal(
            title: "Acknowledge the delivery of \(place.id)",
            subject: place.subject,
            detail: "fence \(fulfilment.fence), from \(delivery.rawValue)",
            hidden: place.hidden + [(name: "fence", value: String(fulfilment.fence))],
            facts: facts(fulfilment, delivery)
        )
        if delivery == .acknowledged || delivery == .compensated { proposal.fault = .done }
        return proposal
    }

    func carryOut(
        _ parts: DashboardParts,
        _ write: any StoreTransaction,
        because motive: Motive,
        at now: Timestamp
    ) throws(StoreFailure) -> ActionFault? {
        guard let fence else { return .changed }
        return ActionFault(of: try LedgerRequests.acknowledge(place.key, fence: fence, at: now, in: write))
    }

    @HTMLBuilder private func facts(_ fulfilment: Fulfilment, _ delivery: DeliveryProgress) -> HTML {
        element("dl", .class("facts")) {
            Texts.fact("App", place.app.text)
            Texts.fact("Store", Texts.realm(place.realm))
            Texts.fact("Customer", fulfilment.customer?.text)
            Texts.fact("Product", fulfilment.product.text)
            Texts.fact("Order", fulfilment.order?.text)
            for goods in fulfilment.goodsByNow { Texts.fact("Gives", Texts.goods(goods)) }
            Texts.fact("Delivery", delivery.rawValue)
        }
        element("p") {
            "The ledger notes that the shop has delivered, and the order is delivered, if it pays one. This cannot be "
            "undone: be sure that the customer has it."
        }
    }
}
