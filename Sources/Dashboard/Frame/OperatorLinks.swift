import PurchaseModel
import Storage

/// What an operator can do from a page: links to where it is shown before it is done. A viewer sees none.
enum OperatorLinks {
    typealias Entry = (text: String, address: Address)

    @HTMLBuilder static func list(_ visit: Visit, _ entries: [Entry]) -> HTML {
        if visit.may(.operator), !entries.isEmpty {
            element("ul", .class("actions")) {
                for entry in entries { element("li") { element("a", .href(entry.address)) { entry.text } } }
            }
        }
    }

    /// What can be done with a transaction as it stands.
    static func transaction(_ key: TransactionKey, _ fulfilment: Fulfilment?, _ owner: Owner?) -> [Entry] {
        var entries: [Entry] = []
        if let fulfilment, fulfilment.state == .waiting || fulfilment.isGivenWithoutOrder {
            entries.append(("Have it pay an order", attach(key)))
        }
        if let owner {
            entries.append(("Transfer it to another customer", place("/transfer", key)))
            if let previous = owner.previous {
                let back = place("/transfer", key, [(name: "to", value: previous.text)])
                entries.append(("Transfer it back to \(previous.text)", back))
            }
        }
        if let delivery = fulfilment?.delivery, delivery != .acknowledged, delivery != .compensated {
            entries.append(("Acknowledge its delivery", place("/acknowledge", key)))
        }
        entries.append(("Ask Apple about it now", place("/resync", key)))
        return entries
    }

    static func order(_ order: Order) -> [Entry] {
        if order.state == .paid, let payment = order.payment {
            let key = TransactionKey(app: order.app, realm: payment.realm, id: payment.transaction)
            return [("Acknowledge its delivery", self.place("/acknowledge", key))]
        }
        guard order.mayBePaid else { return [] }
        let place: [(name: String, value: String?)] = [
            (name: "app", value: order.app.text), (name: "id", value: order.id.text),
        ]
        return [("Cancel the order", Address("/order/cancel", place))]
    }

    /// Has a purchase that waits, or was given without an order, pay one; which one is asked where none is named.
    static func attach(_ key: TransactionKey, to order: OrderID? = nil) -> Address {
        guard let order else { return place("/attach", key) }
        return place("/attach", key, [(name: "order", value: order.text), (name: "from", value: "order")])
    }

    static func adjust(
        _ app: AppID,
        _ customer: CustomerID,
        _ realm: Realm,
        _ currency: CurrencyID? = nil
    ) -> Address {
        Address(
            "/adjust",
            [
                (name: "app", value: app.text), (name: "customer", value: customer.text),
                (name: "side", value: Side.name(realm)), (name: "currency", value: currency?.text),
            ]
        )
    }

    static func submission(_ name: String) -> [Entry] {
        [("Ask Apple about it now", Address("/submission/resync", [(name: "id", value: name)]))]
    }

    static func grant(_ app: AppID, _ customer: CustomerID, _ realm: Realm) -> Address {
        Address(
            "/grant",
            [
                (name: "app", value: app.text), (name: "customer", value: customer.text),
                (name: "side", value: Side.name(realm)),
            ]
        )
    }

    static func revoke(_ key: GrantedEntitlementKey) -> Address {
        Address(
            "/revoke",
            [
                (name: "app", value: key.app.text), (name: "customer", value: key.customer.text),
                (name: "side", value: Side.name(key.realm)), (name: "entitlement", value: key.entitlement.text),
            ]
        )
    }

    /// Has an event sent once more to an endpoint.
    static func replay(_ app: AppID, _ id: WebhookDeliveryID, back: Address) -> Address {
        Address(
            "/replay",
            [
                (name: "app", value: app.text), (name: "event", value: id.event.text),
                (name: "webhook", value: id.endpoint.text), (name: "back", value: back.text),
            ]
        )
    }

    private static func place(
        _ path: StaticString,
        _ key: TransactionKey,
        _ more: [(name: String, value: String?)] = []
    ) -> Address {
        Address(
            path,
            [
                (name: "app", value: key.app.text), (name: "side", value: Side.name(key.realm)),
                (name: "id", value: key.id.description),
            ] + more
        )
    }
}
