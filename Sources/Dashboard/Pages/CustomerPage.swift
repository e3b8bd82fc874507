import HTTP
import PurchaseModel
import Storage

/// Everything about one customer.
struct CustomerPage: Sendable {
    private static let rows = 50
    /// Stores list a customer's orders by their ids: of more than these the newest may be missed.
    private static let ordersRead = 5_000
    private static let production = Realm(environment: .production, isTestSigned: false)

    let parts: DashboardParts

    private struct Found: Sendable {
        let page: TransactionPage
        let fulfilments: [TransactionKey: Fulfilment]
        let orders: [Order]
        let subscriptions: [RecordedSubscription]
        let wallets: [Wallet]
        let entitlements: CustomerEntitlements
        let told: [ToldEvents]
        let refused: RefusedProofs
    }

    func show(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        guard let app = AppID(visit.fields["app"]), let id = CustomerID(visit.fields["id"]) else {
            return Notices.notFound("customer", visit)
        }
        let cursor = TransactionID(visit.fields["after"]).map {
            TransactionCursor(realm: Self.realm(visit.fields), id: $0)
        }
        let found = try await parts.store.read { reader throws(StoreFailure) -> Found in
            let page = try reader.transactions(
                app: app,
                customer: id,
                order: .newestFirst,
                after: cursor,
                limit: Self.rows
            )
            let holdings = try Holdings(try reader.chains(app: app, customer: id), reader)
            return Found(
                page: page,
                fulfilments: try reader.fulfilments(of: page.transactions),
                orders: try Self.newestOrders(app, id, reader),
                subscriptions: Array(holdings.subscriptions.sorted { $0.lookedAt > $1.lookedAt }.prefix(Self.rows)),
                wallets: try reader.wallets(app: app, customer: id),
                entitlements: CustomerEntitlements(
                    app: app,
                    holdings,
                    try reader.grantedEntitlements(app: app, customer: id),
                    at: visit.now
                ),
                told: try Realm.known.map { realm throws(StoreFailure) in
                    try ToldEvents(StreamKey(app: app, realm: realm, customer: id), reader)
                },
                refused: try RefusedProofs(of: .customer(app, id), reader)
            )
        }
        return Page("Customer \(id.text)", visit: visit) {
            element("p") {
                "Of the app "
                element("bdi") { app.text }
            }
            found.entitlements.html(visit)
            transactions(found, app, id)
            subscriptions(found.subscriptions, app)
            orders(found.orders, app)
            wallets(found.wallets, visit)
            found.refused.presentedByOthers.html("Presented, and another customer's, the newest first", parts)
            found.refused.refused.html("Refused proofs of this customer, the newest first", parts)
            OperatorLinks.list(
                visit,
                [
                    ("Grant an entitlement", OperatorLinks.grant(app, id, Self.production)),
                    ("Change a balance", OperatorLinks.adjust(app, id, Self.production)),
                ]
            )
            for told in found.told { told.html(visit, Links.customer(app, id)) }
        }.response()
    }

    private static func newestOrders(
        _ app: AppID,
        _ customer: CustomerID,
        _ reader: any StoreReader
    ) throws(StoreFailure) -> [Order] {
        var found: [Order] = []
        var place: OrderID?
        repeat {
            let page = try reader.orders(app: app, customer: customer, after: place, limit: OrderPage.limitMax)
            found += page.orders
            place = page.next
        } while place != nil && found.count < ordersRead
        return Array(found.sorted { ($0.placedAt, $0.id) > ($1.placedAt, $1.id) }.prefix(rows))
    }

    private static func realm(_ fields: FormFields) -> Realm {
        Realm(
            environment: StoreEnvironment(rawValue: fields["environment"]),
            isTestSigned: fields["test_signed"] == "true"
        )
    }

    @HTMLBuilder private func transactions(_ found: Found, _ app: AppID, _ customer: CustomerID) -> HTML {
        Table("Transactions, the newest first", ["Transaction", "Product", "Bought", "Store", "What was given"]) {
            for recorded in found.page.transactions {
                element("tr") {
                    element("th", .word("scope", "row")) {
                        Links.link(Links.transaction(app, recorded.id), recorded.id.description)
                    }
                    element("td") { element("bdi") { recorded.transaction.product.text } }
                    element("td") { Texts.moment(recorded.transaction.purchasedAt) }
                    element("td") { Texts.realm(recorded.realm) }
                    element("td") { TransactionPages.given(found.fulfilments[recorded.key]) }
                }
            }
        }.html
        if let next = found.page.next {
            let place: [(name: String, value: String?)] = [
                (name: "app", value: app.text), (name: "id", value: customer.text),
                (name: "after", value: next.id.description),
                (name: "environment", value: next.realm.environment.rawValue),
                (name: "test_signed", value: next.realm.isTestSigned ? "true" : nil),
            ]
            element("p") { element("a", .href(Address("/customer", place))) { "Older transactions" } }
        }
    }

    @HTMLBuilder private func subscriptions(_ rows: [RecordedSubscription], _ app: AppID) -> HTML {
        if !rows.isEmpty {
            Table("Subscriptions", ["First transaction", "Product", "State", "Until", "Renews by itself"]) {
                for row in rows {
                    element("tr") {
                        element("th", .word("scope", "row")) {
                            Links.link(Links.transaction(app, row.chain.original), row.chain.original.description)
                        }
                        element("td") { element("bdi") { row.product.text } }
                        element("td") { row.state.rawValue }
                        element("td") { row.expiresAt.map(Texts.moment) ?? HTML(text: "–") }
                        element("td") { row.willAutoRenew.map { $0 ? "yes" : "no" } ?? "not known" }
                    }
                }
            }.html
        }
    }

    @HTMLBuilder private func orders(_ rows: [Order], _ app: AppID) -> HTML {
        if !rows.isEmpty {
            Table("Orders, the newest first", ["Order", "Product", "State", "Placed"]) {
                for order in rows {
                    element("tr") {
                        element("th", .word("scope", "row")) { Links.link(Links.order(app, order.id), order.id.text) }
                        element("td") { element("bdi") { order.product.text } }
                        element("td") { Texts.state(order) }
                        element("td") { Texts.moment(order.placedAt) }
                    }
                }
            }.html
        }
    }

    @HTMLBuilder private func wallets(_ rows: [Wallet], _ visit: Visit) -> HTML {
        if !rows.isEmpty {
            Table("Balances", ["Currency", "Store", "Balance"] + (visit.may(.operator) ? ["Change"] : [])) {
                for wallet in rows {
                    element("tr") {
                        element("th", .word("scope", "row")) { element("bdi") { wallet.key.currency.text } }
                        element("td") { Texts.realm(wallet.key.realm) }
                        element("td") { Texts.count(Int(wallet.balance)) }
                        if visit.may(.operator) {
                            let key = wallet.key
                            let place = OperatorLinks.adjust(key.app, key.customer, key.realm, key.currency)
                            element("td") { element("a", .href(place)) { "Change \(key.currency.text)" } }
                        }
                    }
                }
            }.html
        }
    }
}
