import HTTP
import Pipeline
import PurchaseModel
import Storage

/// Has a purchase that waits, or was given without an order, pay one.
struct AttachAction: OperatorAction {
    static let path: StaticString = "/attach"
    static let word = "purchase_attached"
    /// Of a customer's orders, by their ids, so many are looked through for some that fit.
    private static let lookedAtMax = OrderPage.limitMax

    private let place: ActionPlace
    /// As it was typed or chosen; empty when it is still to be.
    private let order: String
    /// It came from the order's page.
    private let isFromOrder: Bool
    private let overruling: TokenOverruling

    init?(_ fields: FormFields) {
        guard let place = ActionPlace(fields) else { return nil }
        self.place = place
        order = fields["order"]
        isFromOrder = fields["from"] == "order"
        overruling = TokenOverruling(fields)
    }

    var back: Address {
        if isFromOrder, let id = OrderID(order) { return Links.order(place.app, id) }
        return place.back
    }

    func propose(
        _ parts: DashboardParts,
        _ write: any StoreTransaction,
        at now: Timestamp
    ) throws(StoreFailure) -> Proposal? {
        guard let policy = parts.policy(place.app), let recorded = try write.transactions([place.key]).first else {
            return nil
        }
        let known = try place.fulfilment(of: recorded, write)
        var proposal = Proposal(
            title: "Have transaction \(place.id) pay an order",
            subject: place.subject,
            hidden: place.hidden + [(name: "from", value: isFromOrder ? "order" : "")],
            facts: facts(recorded, known)
        )
        if order.isEmpty {
            proposal.question = question(try fitting(recorded, write))
            return proposal
        }
        guard let id = OrderID(order) else {
            proposal.fault = .notUnderstood("That is no order's id.")
            proposal.question = question(try fitting(recorded, write))
            return proposal
        }
        proposal.title = "Have transaction \(place.id) pay order \(id.text)"
        proposal.detail = "to order \(id.text)" + overruling.detail
        proposal.hidden.append((name: "order", value: id.text))
        proposal.hidden += overruling.hidden
        let key = OrderKey(app: place.app, id: id)
        if let found = try write.orders([key]).first { proposal.facts.append(facts(found, paidBy: known)) }
        if known?.state == .granted || known?.state == .partlyReversed, known?.order == id {
            proposal.fault = .done
        } else if case .failure(let fault) = try LedgerRequests.attach(
            place.key,
            to: key,
            overrulesToken: overruling.isMeant,
            for: policy,
            isDryRun: true,
            at: now,
            in: write
        ) {
            proposal.fault = .request(fault)
            proposal.question = question(try fitting(recorded, write))
            if fault == .tokenContradicts {
                proposal.question?.append(TokenOverruling.form(Self.path, proposal.hidden, Self.meaning))
            }
        }
        return proposal
    }

    func carryOut(
        _ parts: DashboardParts,
        _ write: any StoreTransaction,
        because motive: Motive,
        at now: Timestamp
    ) throws(StoreFailure) -> ActionFault? {
        guard let policy = parts.policy(place.app), let id = OrderID(order) else { return .request(.unknown) }
        let key = OrderKey(app: place.app, id: id)
        let result = try LedgerRequests.attach(
            place.key,
            to: key,
            overrulesToken: overruling.isMeant,
            for: policy,
            at: now,
            in: write
        )
        return ActionFault(of: result)
    }

    private static let meaning =
        "If it was bought for this order all the same, the token can be overruled. The order says so from then on, and so does "
        + "the audit log."

    /// The orders that it could pay, the oldest first: of whoever it belongs to, or by the token that Apple signed.
    private func fitting(
        _ recorded: RecordedTransaction,
        _ reader: any StoreReader
    ) throws(StoreFailure) -> [Order] {
        let fulfilment = try place.fulfilment(of: recorded, reader)
        let owner = try reader.owners([fulfilment?.chain ?? recorded.chain]).first
        var found: [Order] = []
        if let customer = owner?.customer ?? fulfilment?.customer ?? recorded.customer {
            found = try reader.orders(app: place.app, customer: customer, after: nil, limit: Self.lookedAtMax).orders
        } else if let token = recorded.transaction.accountToken {
            found = try reader.openOrders(tokens: [TokenKey(app: place.app, token: token)])
        }
        let sold = recorded.transaction
        return found.filter { $0.mayBePaidByHand && $0.asks(for: sold.product, sold.quantity) }
            .sorted { ($0.placedAt, $0.id) < ($1.placedAt, $1.id) }
    }

    @HTMLBuilder private func question(_ orders: [Order]) -> HTML {
        if orders.isEmpty {
            element("p") { "No order is known that it fits." }
        } else {
            Table("Orders that it fits", ["Order", "Customer", "State", "Placed"]) {
                for order in orders.prefix(50) {
                    element("tr") {
                        element("th", .word("scope", "row")) { Links.link(address(order), order.id.text) }
                        element("td") { element("bdi") { order.customer.text } }
                        element("td") { order.state.rawValue }
                        element("td") { Texts.moment(order.placedAt) }
                    }
                }
            }.html
        }
        Form.get(Address(Self.path), place.hidden, label: "Look at it") {
            Form.field("order", "Another order's id", value: order)
        }
    }

    private func address(_ order: Order) -> Address {
        Address(Self.path, Form.parameters(place.hidden + [(name: "order", value: order.id.text)]))
    }

    private func facts(_ recorded: RecordedTransaction, _ fulfilment: Fulfilment?) -> HTML {
        element("dl", .class("facts")) {
            element("dt") { "Transaction" }
            element("dd") { Links.link(place.back, place.id.description) }
            Texts.fact("App", place.app.text)
            Texts.fact("Store", Texts.realm(place.realm))
            Texts.fact("Product", recorded.transaction.product.text)
            Texts.fact("Quantity", String(recorded.transaction.quantity))
            Texts.fact("Bought", recorded.transaction.purchasedAt)
            Texts.fact("Stands at", TransactionPages.given(fulfilment))
        }
    }

    @HTMLBuilder private func facts(_ order: Order, paidBy fulfilment: Fulfilment?) -> HTML {
        element("h2") { "The order" }
        element("dl", .class("facts")) {
            element("dt") { "Order" }
            element("dd") { Links.link(Links.order(place.app, order.id), order.id.text) }
            Texts.fact("Customer", order.customer.text)
            Texts.fact("Product", order.product.text)
            Texts.fact("Quantity", String(order.quantity))
            Texts.fact("State", order.state.rawValue)
        }
        element("p") {
            if fulfilment?.isGivenWithoutOrder == true {
                "The order is paid by what was granted before, and delivered if that was acknowledged. Nothing is granted "
                "again, and the shop is told that the order is paid, and of no other delivery. "
            } else {
                "The order is paid, what it is for is granted to its customer, and the shop is told to deliver. "
            }
            "This cannot be undone here: only a refund by Apple takes it back."
        }
    }
}
