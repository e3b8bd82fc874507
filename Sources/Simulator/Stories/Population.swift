package import PurchaseModel

/// Many customers who live by a seed: they buy, forget to pay, change their minds, ask for their money back. For load,
/// for demonstrations, and for checks that no story thought of.
///
/// The same seed, the same lives. What a customer tries and the store refuses is part of life.
package struct Population: Sendable {
    package private(set) var store: SimulatedStore
    private let app: BundleID
    private let products: [StoreProduct]
    private var random: SplitMix64
    private var plan = Agenda<String>()
    /// How many acts were done, and how many refused.
    package private(set) var done = 0
    package private(set) var refused = 0

    /// How long a customer does nothing, on average.
    private static let idle: Double = 20 * 86_400_000

    /// - Parameters:
    ///   - store: which has the app already.
    ///   - app: whose products are bought.
    ///   - count: how many customers there are; one in four is a sandbox tester, families have three members.
    ///   - seed: decides their lives.
    package init(in store: SimulatedStore, app: BundleID, count: Int, seed: UInt64) {
        self.store = store
        self.app = app
        products = store.apps[app]?.products.values.sorted { $0.id < $1.id } ?? []
        random = SplitMix64(seed: seed)
        for number in 0..<count { settle(number) }
    }

    /// Everybody lives until then.
    package mutating func live(until end: Timestamp) {
        while let next = plan.take(until: end) {
            store.advance(to: next.at)
            act(next.event)
            plan.plan(next.event, at: next.at.advanced(by: .milliseconds(wait())))
        }
        store.advance(to: end)
    }

    /// The same in a store that others use, too: what this one was made with is its beginning.
    package mutating func live(until end: Timestamp, in shared: inout SimulatedStore) {
        swap(&store, &shared)
        live(until: end)
        swap(&store, &shared)
    }

    /// When somebody does something next.
    package var nextMoment: Timestamp? { plan.next }

    private mutating func settle(_ number: Int) {
        let name = "customer-\(number)"
        let isTester = number % 4 == 3
        let minutes = TimeRate.sandboxMinutes[number / 4 % TimeRate.sandboxMinutes.count]
        var customer = StoreCustomer(
            name: name,
            environment: isTester ? .sandbox : .production,
            rate: isTester ? (number % 8 == 3 ? .testFlight : .sandbox(minutesPerMonth: minutes)) : .real
        )
        customer.storefront = Storefront.all[below(Storefront.all.count)]
        store.set(customer)
        if number % 8 < 3 { _ = try? store.perform(.setFamily(customer: name, family: "family-\(number / 8)")) }
        plan.plan(name, at: store.now.advanced(by: .milliseconds(wait() / 4)))
    }

    private mutating func act(_ name: String) {
        guard let act = choose(for: name) else { return }
        do throws(ActRefusal) {
            _ = try store.perform(act)
            done += 1
        } catch {
            refused += 1
        }
    }

    private mutating func choose(for name: String) -> Act? {
        guard let product = products.isEmpty ? nil : products[below(products.count)] else { return nil }
        let subscription = Act.Subscription(customer: name, app: app, product: product.id)
        switch below(100) {
        case ..<40: return .buy(purchase(product, by: name))
        case ..<48: return .setAutoRenew(subscription, isOn: false)
        case ..<52: return .setAutoRenew(subscription, isOn: true)
        case ..<60: return .changePlan(subscription, to: product.id)
        case ..<66: return .setPayment(customer: name, works: false)
        case ..<76: return .setPayment(customer: name, works: true)
        case ..<80: return product.offers.isEmpty ? nil : .redeemOffer(subscription, offer: offer(of: product))
        case ..<82: return .setFamily(customer: name, family: below(2) == 0 ? nil : "family-\(below(4))")
        case ..<83: return .rescindConsent(customer: name, app: app)
        default: return choosePast(for: name)
        }
    }

    /// Something about what she bought before.
    private mutating func choosePast(for name: String) -> Act? {
        let owned = store.transactions(of: SimulatedStore.Owner(customer: name, app: app))
        guard !owned.isEmpty else { return nil }
        let transaction = owned[below(owned.count)]
        switch below(10) {
        case ..<3: return .finish(transaction.id)
        case ..<5:
            var request = Act.RefundRequest(transaction: transaction.id)
            request.reason = Act.RefundReason.allCases[below(Act.RefundReason.allCases.count)]
            request.isInApp = below(3) > 0
            request.outcome = [.full, .declined, .prorated(percentage: nil)][below(3)]
            return .askRefund(request)
        case ..<6: return .decideRefund(transaction.id, .full)
        case ..<7: return .reverseRefund(transaction.id)
        case ..<8:
            let terms = Act.Extension(
                days: 1 + below(90),
                reason: below(4),
                requestIdentifier: "request-\(below(1_000))"
            )
            return .extend(transaction.originalID, terms)
        case ..<9: return .setAccountToken(transaction.originalID, token())
        default: return .setSharing(transaction.id, isOn: below(2) == 0)
        }
    }

    private mutating func purchase(_ product: StoreProduct, by name: String) -> Act.Purchase {
        var purchase = Act.Purchase(customer: name, app: app, product: product.id)
        if product.kind == .consumable { purchase.quantity = 1 + below(3) }
        if below(2) == 0 { purchase.accountToken = token() }
        if below(6) == 0, !product.offers.isEmpty { purchase.offer = offer(of: product) }
        return purchase
    }

    private mutating func offer(of product: StoreProduct) -> String {
        product.offers[below(product.offers.count)].identifier
    }

    private mutating func token() -> AccountToken { AccountToken(high: random.next(), low: random.next()) }

    private mutating func below(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

    /// Short waits are frequent and long ones rare.
    private mutating func wait() -> Int64 {
        let share = Double(random.next() >> 11) / Double(1 << 53)
        // Twice the average times a square: cheap, and as uneven as life.
        return 1_000 + Int64(3 * Self.idle * share * share)
    }
}
