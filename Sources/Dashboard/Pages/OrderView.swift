import HTTP
import PurchaseModel
import Storage

/// Everything about one order.
struct OrderView: Sendable {
    private static let rows = 25

    let parts: DashboardParts

    private struct Found: Sendable {
        let order: Order
        /// What waits and could pay it.
        let waiting: [Fulfilment]
        let told: ToldEvents
    }

    func show(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        guard let app = AppID(visit.fields["app"]), let id = OrderID(visit.fields["id"]) else {
            return Notices.notFound("order", visit)
        }
        let found = try await parts.store.read { reader throws(StoreFailure) -> Found? in
            guard let order = try reader.orders([OrderKey(app: app, id: id)]).first else { return nil }
            let realm = order.payment?.realm ?? Realm(environment: .production, isTestSigned: false)
            return Found(
                order: order,
                waiting: try Self.waiting(for: order, reader),
                told: try ToldEvents(StreamKey(app: app, realm: realm, customer: order.customer), reader)
            )
        }
        guard let found else { return Notices.notFound("order", visit) }
        return Page("Order \(id.text)", visit: visit) {
            facts(found.order)
            OperatorLinks.list(visit, OperatorLinks.order(found.order))
            waiting(found, visit)
            found.told.html(visit, Links.order(app, id))
        }.response()
    }

    /// Purchases of its customer, or with its token and nobody's, that could pay it.
    private static func waiting(for order: Order, _ reader: any StoreReader) throws(StoreFailure) -> [Fulfilment] {
        guard order.mayBePaidByHand else { return [] }
        let found = try reader.waitingFulfilments(
            for: WishKey(app: order.app, customer: order.customer, product: order.product),
            tokens: [order.accountToken].compactMap(\.self),
            limit: FulfilmentPage.limitMax
        )
        let fitting = found.filter { fulfilment in
            let isAnothers = fulfilment.customer.map { $0 != order.customer } ?? false
            return !isAnothers && order.asks(for: fulfilment.product, fulfilment.quantity)
        }.sorted { ($0.purchasedAt, $0.transaction.id) < ($1.purchasedAt, $1.transaction.id) }
        return Array(fitting.prefix(rows))
    }

    private func facts(_ order: Order) -> HTML {
        element("dl", .class("facts")) {
            Texts.fact("App", order.app.text)
            element("dt") { "Customer" }
            element("dd") { Links.link(Links.customer(order.app, order.customer), order.customer.text) }
            Texts.fact("Product", order.product.text)
            Texts.fact("Quantity", String(order.quantity))
            Texts.fact("State", Texts.state(order))
            Texts.fact("Placed", order.placedAt)
            Texts.fact("Expires", order.expiresAt)
            Texts.fact("Changed", order.changedAt)
            Texts.fact("Account token", order.accountToken?.description)
            if let payment = order.payment {
                element("dt") { "Paid by" }
                element("dd") {
                    Links.link(Links.transaction(order.app, payment.transaction), payment.transaction.description)
                    ", matched by \(payment.match.rawValue)"
                }
            }
        }
    }

    @HTMLBuilder private func waiting(_ found: Found, _ visit: Visit) -> HTML {
        if !found.waiting.isEmpty {
            Table("Purchases that wait and could pay it", ["Transaction", "Bought", "Store", "Waits for", "Pay"]) {
                for waiting in found.waiting {
                    element("tr") {
                        element("th", .word("scope", "row")) {
                            Links.link(
                                Links.transaction(found.order.app, waiting.transaction.id),
                                waiting.transaction.id.description
                            )
                        }
                        element("td") { Texts.moment(waiting.purchasedAt) }
                        element("td") { Texts.realm(waiting.transaction.realm) }
                        element("td") { waiting.reason?.rawValue ?? "" }
                        element("td") {
                            if visit.may(.operator) {
                                let place = OperatorLinks.attach(waiting.transaction, to: found.order.id)
                                element("a", .href(place)) { "Have it pay this order" }
                            }
                        }
                    }
                }
            }.html
        }
    }
}
