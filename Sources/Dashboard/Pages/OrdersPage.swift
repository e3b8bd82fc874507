import HTTP
import PurchaseModel
import Storage

/// How far orders come, which they are, and what was bought and waits for one.
struct OrdersPage: Sendable {
    private static let rows = 50
    private static let waitingRows = 25
    /// Of one store's orders so many of all are looked through for a page: the other stores' stand between them.
    private static let lookedAtMax = 2_000
    private static let spans: [Int64] = [1, 7, 30, 90, 365]

    let parts: DashboardParts

    /// What is to be shown.
    private struct Wish: Sendable {
        let app: AppID
        let days: ClosedRange<DayOfTime>
        /// `nil` for all.
        let state: OrderState?
        let realm: Realm?
        let before: OrderCursor?
        let waitingAfter: FulfilmentCursor?

        var span: Int64 { days.upperBound.number - days.lowerBound.number + 1 }

        /// The address of the same page, another place in its listings apart.
        func address(_ more: [(name: String, value: String?)]) -> Address {
            Address(
                "/orders",
                [
                    (name: "app", value: app.text), (name: "days", value: String(span)),
                    (name: "state", value: state?.rawValue), (name: "side", value: realm.map(Side.name)),
                ] + more
            )
        }
    }

    private struct Found: Sendable {
        let funnel: OrderFunnel
        let orders: PlacedOrders
        let waiting: FulfilmentPage
        let isIncomplete: Bool
    }

    func show(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        guard let wish = wish(visit) else { return Notices.notFound("app", visit) }
        let found = try await parts.store.read { reader throws(StoreFailure) in
            Found(
                funnel: try OrderFunnel(wish.app, wish.realm, wish.days, reader),
                orders: try Self.orders(wish, reader),
                waiting: try reader.waitingFulfilments(
                    app: wish.app,
                    on: nil,
                    after: wish.waitingAfter,
                    limit: Self.waitingRows
                ),
                isIncomplete: try reader.figuresAreDue(app: wish.app)
            )
        }
        return Page("Orders", place: Address("/orders"), visit: visit) {
            choice(wish)
            if found.isIncomplete { FigurePieces.uncounted }
            found.funnel.html
            orders(found.orders, wish)
            waiting(found.waiting, wish, visit)
        }.response()
    }

    private func wish(_ visit: Visit) -> Wish? {
        let fields = visit.fields
        let named = AppID(fields["app"]).flatMap { parts.apps.contains($0) ? $0 : nil }
        guard let app = named ?? parts.apps.first else { return nil }
        let today = DayOfTime(containing: visit.now)
        let span = Self.spans.first { String($0) == fields["days"] } ?? FigureSummary.days
        var place: FulfilmentCursor?
        if let original = TransactionID(fields["waiting_original"]), let id = TransactionID(fields["waiting_id"]),
            let realm = Side.realm(fields["waiting_side"])
        {
            place = FulfilmentCursor(original: original, realm: realm, transaction: id)
        }
        return Wish(
            app: app,
            days: today.advanced(by: 1 - span)...today,
            state: OrderState(rawValue: fields["state"]),
            realm: Side.realm(fields["side"]),
            before: OrderCursor(text: fields["before"]),
            waitingAfter: place
        )
    }

    private static func orders(_ wish: Wish, _ reader: any StoreReader) throws(StoreFailure) -> PlacedOrders {
        let states = wish.state.map { [$0] } ?? Set(OrderState.allCases)
        var (found, place, looked) = ([Order](), wish.before, 0)
        repeat {
            let page = try reader.orders(
                app: wish.app,
                states: states,
                placedSince: wish.days.lowerBound.start,
                before: place,
                limit: wish.realm == nil ? rows : OrderPage.limitMax
            )
            (place, looked) = (page.next, looked + page.orders.count)
            found += page.orders.filter { wish.realm == nil || $0.payment?.realm == wish.realm }
        } while place != nil && found.count < rows && looked < lookedAtMax
        guard found.count > rows else { return PlacedOrders(orders: found, next: place) }
        found = Array(found.prefix(rows))
        return PlacedOrders(orders: found, next: found.last?.listed)
    }

    // MARK: The page

    private func choice(_ wish: Wish) -> HTML {
        element("form", .class("choice"), .word("method", "get"), .action(Address("/orders"))) {
            Form.choice("app", "App", parts.apps.map { (value: $0.text, text: $0.text) }, selected: wish.app.text)
            Form.choice(
                "days",
                "Placed in the last",
                Self.spans.map { (value: String($0), text: $0 == 1 ? "day" : "\($0) days") },
                selected: String(wish.span)
            )
            Form.choice(
                "state",
                "State",
                [(value: "", text: "all")] + OrderState.allCases.map { (value: $0.rawValue, text: $0.rawValue) },
                selected: wish.state?.rawValue ?? ""
            )
            Form.choice(
                "side",
                "Paid in the store",
                [(value: "", text: "all, also not paid")]
                    + Realm.known.map { (value: Side.name($0), text: Texts.realm($0)) },
                selected: wish.realm.map(Side.name) ?? ""
            )
            element("button") { "Show" }
        }
    }

    @HTMLBuilder private func orders(_ page: PlacedOrders, _ wish: Wish) -> HTML {
        Table("Orders, the newest first", ["Order", "Customer", "Product", "State", "Placed", "Paid by"]) {
            for order in page.orders {
                element("tr") {
                    element("th", .word("scope", "row")) { Links.link(Links.order(order.app, order.id), order.id.text) }
                    element("td") { Links.link(Links.customer(order.app, order.customer), order.customer.text) }
                    element("td") { element("bdi") { order.product.text } }
                    element("td") { Texts.state(order) }
                    element("td") { Texts.moment(order.placedAt) }
                    element("td") {
                        if let payment = order.payment {
                            Links.link(Links.transaction(order.app, payment.transaction), "\(payment.transaction)")
                            ", \(Texts.realm(payment.realm))"
                        }
                    }
                }
            }
        }.html
        if page.orders.isEmpty { element("p") { "None among those that were looked at." } }
        if let next = page.next {
            element("p") { element("a", .href(wish.address([(name: "before", value: next.text)]))) { "Older orders" } }
        }
    }

    @HTMLBuilder private func waiting(_ page: FulfilmentPage, _ wish: Wish, _ visit: Visit) -> HTML {
        element("h2") { "Purchases that wait" }
        element("p", .class("quiet")) {
            "Bought, proved and recorded, and nothing was given yet: for want of an order, a customer or a product. Those of "
            "all days and stores."
        }
        if page.fulfilments.isEmpty {
            element("p") { "None." }
        } else {
            let headings = ["Transaction", "Product", "Bought", "Store", "Customer", "Waits for"]
            Table("Purchases that wait", headings + (visit.may(.operator) ? ["Pay"] : [])) {
                for waiting in page.fulfilments { row(waiting, visit) }
            }.html
        }
        if let next = page.next {
            let more: [(name: String, value: String?)] = [
                (name: "waiting_original", value: next.original.description),
                (name: "waiting_side", value: Side.name(next.realm)),
                (name: "waiting_id", value: next.transaction.description),
            ]
            element("p") { element("a", .href(wish.address(more))) { "More that wait" } }
        }
    }

    private func row(_ waiting: Fulfilment, _ visit: Visit) -> HTML {
        let key = waiting.transaction
        return element("tr") {
            element("th", .word("scope", "row")) {
                Links.link(Links.transaction(key.app, key.id), key.id.description)
            }
            element("td") { element("bdi") { waiting.product.text } }
            element("td") { Texts.moment(waiting.purchasedAt) }
            element("td") { Texts.realm(key.realm) }
            element("td") {
                if let customer = waiting.customer { Links.link(Links.customer(key.app, customer), customer.text) }
            }
            element("td") { waiting.reason.map { ChartText.words($0.rawValue) } ?? "" }
            if visit.may(.operator) {
                element("td") { element("a", .href(OperatorLinks.attach(key))) { "Choose an order" } }
            }
        }
    }
}
