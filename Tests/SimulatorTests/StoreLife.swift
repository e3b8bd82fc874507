import Encoding
import PurchaseModel
import Simulator
import Testing

/// A store with the demo's app and two customers, moved by hand: what the tests of its rules are written in.
struct StoreLife {
    static let start = Timestamp(seconds: 1_767_225_600)

    var store = SimulatedStore(startingAt: start, seed: 7)
    let app = DemoCatalogue.bundleID

    init() {
        store.set(DemoCatalogue.app())
        var app = DemoCatalogue.app()
        app.productionNotifications = NotificationTarget(url: "https://shop.example/production")
        app.sandboxNotifications = NotificationTarget(url: "https://shop.example/sandbox")
        store.set(app)
        for name in ["anna", "berta", "carla"] {
            store.set(StoreCustomer(name: name, environment: .production))
        }
        store.set(StoreCustomer(name: "tester", environment: .sandbox))
    }

    @discardableResult
    mutating func buy(
        _ product: String,
        by customer: String = "anna",
        quantity: Int = 1,
        offer: String? = nil
    ) throws -> SoldTransaction {
        var purchase = Act.Purchase(customer: customer, app: app, product: DemoCatalogue.product(product))
        purchase.quantity = quantity
        purchase.offer = offer
        guard case .done(let ids) = try store.perform(.buy(purchase)), let id = ids.last else {
            throw ActRefusal.nothingWaits
        }
        return try #require(store.transactions[id])
    }

    @discardableResult
    mutating func perform(_ act: Act) throws -> ActOutcome { try store.perform(act) }

    mutating func days(_ count: Double) {
        store.advance(to: store.steadyNow.advanced(by: .milliseconds(Int64(count * 86_400_000))))
    }

    func subscription(_ product: String, of customer: String = "anna") -> Act.Subscription {
        Act.Subscription(customer: customer, app: app, product: DemoCatalogue.product(product))
    }

    func owned(by customer: String = "anna") -> [SoldTransaction] {
        store.transactions(of: SimulatedStore.Owner(customer: customer, app: app))
    }

    func line(of customer: String = "anna") throws -> SubscriptionLine {
        try #require(store.lines(of: SimulatedStore.Owner(customer: customer, app: app)).last)
    }

    func status(of customer: String = "anna") throws -> SubscriptionLine.Status {
        store.status(of: try line(of: customer))
    }

    /// What the merchant was told since the start, as `TYPE` or `TYPE/SUBTYPE`.
    func told(about customer: String? = nil) -> [String] {
        store.notices.filter { notice in
            guard let customer, case .purchase(let purchase) = notice.subject else { return customer == nil }
            return purchase.transaction.customer == customer
        }
        .map { [$0.type.rawValue, $0.subtype].compactMap(\.self).joined(separator: "/") }
    }
}
