package import PurchaseModel

/// An App Store: who has bought what, and what will happen by itself. A value; it moves only when told.
///
/// The same seed and the same calls make the same store, number by number. Rules are an independent reading of Apple's
/// documentation: nothing here is shared with the server that it tests.
package struct SimulatedStore: Sendable {
    package internal(set) var now: Timestamp
    var lastActAt: Timestamp?
    /// By how much acts have moved time since it was last moved, and the most that it ever was.
    private(set) var lead = Duration.zero
    private var leadMax = Duration.zero
    package internal(set) var apps: [BundleID: StoreApp] = [:]
    package internal(set) var customers: [String: StoreCustomer] = [:]
    package internal(set) var transactions: [TransactionID: SoldTransaction] = [:]
    /// All transactions ever, in the order in which they were made.
    package internal(set) var sales: [TransactionID] = []
    /// By original transaction id.
    package internal(set) var lines: [TransactionID: SubscriptionLine] = [:]
    /// All notifications ever, in order.
    package internal(set) var notices: [StoreNotice] = []
    package internal(set) var refundRequests: [TransactionID: RefundCase] = [:]
    package internal(set) var massExtensions: [MassExtensionRun] = []
    /// What merchants told Apple about purchases, newest last.
    package internal(set) var consumptions: [TransactionID: [Act.Consumption]] = [:]

    /// How often a transaction was made or changed.
    var changesCount: Int64 = 0
    var numbers: StoreNumbers
    var agenda = Agenda<StoreEvent>()
    /// Each customer's transactions in each app, in the order in which they were made.
    var owned: [Owner: [TransactionID]] = [:]
    /// The original numbers of each customer's subscriptions in each app, oldest first.
    var subscribed: [Owner: [TransactionID]] = [:]
    /// What family members have of a purchase, also of one that was taken back.
    var copies: [TransactionID: [TransactionID]] = [:]
    /// The names of a family's members, of both environments.
    var families: [String: Set<String>] = [:]
    var waiting: [Act.Purchase] = []
    /// Sold before, by order.
    var orders: [String: [TransactionID]] = [:]
    /// By the number of the pair of account and app.
    var downloads: [String: Owner] = [:]

    /// An account in an app.
    package struct Owner: Hashable, Sendable {
        package let customer: String
        package let app: BundleID

        package init(customer: String, app: BundleID) {
            self.customer = customer
            self.app = app
        }
    }

    /// A refund that was asked for.
    package struct RefundCase: Hashable, Sendable {
        package var request: Act.RefundRequest
        package var answerUntil: Timestamp
    }

    /// An extension for all subscribers of a product.
    package struct MassExtensionRun: Hashable, Sendable {
        package var request: Act.MassExtension
        package var completedAt: Timestamp?
        package var succeeded = 0
        package var failed = 0
    }

    package init(startingAt now: Timestamp, seed: UInt64) {
        self.now = now
        numbers = StoreNumbers(seed: seed)
    }

    /// Adds an app, or changes the settings of one that is there.
    package mutating func set(_ app: StoreApp) {
        apps[app.bundleID] = app
    }

    /// Adds a customer, or changes one that is there.
    package mutating func set(_ customer: StoreCustomer) {
        if let old = customers[customer.name]?.family { families[old]?.remove(customer.name) }
        if let family = customer.family { families[family, default: []].insert(customer.name) }
        customers[customer.name] = customer
    }

    /// The moment that it would be if acts took no time: spans are counted from here, so that they lead to whole seconds again.
    package var steadyNow: Timestamp { now.advanced(by: .zero - lead) }

    /// Lets time pass: everything that is due happens at its own moment, in order. Time never goes back.
    ///
    /// It ends where ``StoreTime`` does.
    package mutating func advance(to wanted: Timestamp) {
        let (moment, steadyBefore) = (min(wanted, StoreTime.range.upperBound), steadyNow)
        // What was bought some acts after a whole second ends as long after one: whoever moves time by a month means that too.
        while let item = agenda.take(until: min(moment.advanced(by: leadMax), StoreTime.range.upperBound)) {
            now = max(now, item.at)
            happen(item.event)
        }
        now = max(now, moment)
        if moment >= steadyBefore { lead = moment.duration(to: now) }
    }

    /// Moves time on for an act, so that it is later than the one before; or back again, when it was refused.
    mutating func moveOn(to moment: Timestamp) {
        lead += now.duration(to: moment)
        leadMax = max(leadMax, lead)
        now = moment
    }

    /// When the next thing happens by itself.
    package var nextMoment: Timestamp? { agenda.next }

    private mutating func happen(_ event: StoreEvent) {
        switch event {
        case .periodEnds(let line): periodEnds(line)
        case .graceEnds(let line): graceEnds(line)
        case .retryEnds(let line): retryEnds(line)
        case .refundIsDecided(let transaction): refundIsDecided(transaction)
        case .massExtensionRuns(let index): massExtensionRuns(index)
        }
    }
}

// MARK: What Apple's answers are made of

extension SimulatedStore {
    /// Whom any of a customer's numbers belongs to: a transaction's, an original one's, or the app transaction's.
    package func owner(ofAny id: String) -> Owner? {
        if let owner = downloads[id] { return owner }
        guard let transaction = TransactionID(id).flatMap({ transactions[$0] }) else { return nil }
        return Owner(customer: transaction.customer, app: transaction.app)
    }

    /// All of a customer's transactions in an app, in the order in which they were made.
    package func transactions(of owner: Owner) -> [SoldTransaction] {
        (owned[owner] ?? []).compactMap { transactions[$0] }
    }

    /// A customer's subscriptions in an app, oldest first.
    package func lines(of owner: Owner) -> [SubscriptionLine] {
        (subscribed[owner] ?? []).compactMap { lines[$0] }
    }

    /// What was sold under the number on a customer's receipt.
    package func transactions(ofOrder order: String) -> [SoldTransaction] {
        (orders[order] ?? []).compactMap { transactions[$0] }
    }

    /// The state of a subscription now.
    package func status(of line: SubscriptionLine) -> SubscriptionLine.Status {
        if transactions[line.current]?.isRevoked == true { return .revoked }
        if line.hasExpired { return .expired }
        guard let failure = line.failure else { return .active }
        guard let graceEndsAt = failure.graceEndsAt, now < graceEndsAt else { return .billingRetry }
        return .gracePeriod
    }

    /// What Apple signs about a subscription's next renewal now.
    package func renewal(of line: SubscriptionLine) -> Renewal {
        let current = transactions[line.current]
        var renewal = Renewal(
            originalID: line.originalID,
            product: current?.fact.product ?? line.nextProduct,
            signedAt: now
        )
        renewal.nextProduct = line.nextProduct
        renewal.willAutoRenew = line.willAutoRenew
        renewal.environment = line.environment
        renewal.expirationIntent = line.expirationIntent?.rawValue
        renewal.isInBillingRetry = isInBillingRetry(line)
        renewal.graceEndsAt = line.failure?.graceEndsAt
        renewal.renewsAt = line.expiresAt
        renewal.recentStartAt = line.recentStartAt
        renewal.priceIncreaseStatus = line.priceIncrease.map { $0.isAccepted ? 1 : 0 }
        renewal.accountToken = line.accountToken
        renewal.offer = line.pendingOffer?.fact
        renewal.nextPrice = nextPrice(of: line)
        return renewal
    }

    /// All that is signed about a subscription's future, as the store stands.
    package func outlook(of line: SubscriptionLine) -> SubscriptionOutlook {
        SubscriptionOutlook(
            renewal: renewal(of: line),
            winBackOffers: winBackOffers(of: line).map(\.identifier),
            appTransaction: transactions[line.current]?.fact.appTransaction
        )
    }

    /// Not said while all is well; denied once the subscription has ended, for whatever reason.
    private func isInBillingRetry(_ line: SubscriptionLine) -> Bool? {
        switch status(of: line) {
        case .active: nil
        case .billingRetry, .gracePeriod: true
        case .expired, .revoked: false
        }
    }

    /// What the next renewal will cost, offers considered.
    func nextPrice(of line: SubscriptionLine) -> Price? {
        if let offer = line.pendingOffer { return offer.price }
        guard let storefront = customers[line.customer]?.storefront else { return nil }
        return apps[line.app]?.products[line.nextProduct]?.price(in: storefront)
    }

    /// The win-back offers that a customer who left may have, best first.
    package func winBackOffers(of line: SubscriptionLine) -> [StoreOffer] {
        guard line.sharedFrom == nil, status(of: line) == .expired, !line.willAutoRenew else { return [] }
        let products = apps[line.app]?.products.values.filter { $0.group == line.group } ?? []
        return products.flatMap { $0.offers.filter { $0.kind == .winBack } }
            .sorted { ($0.price.milliunits, $0.identifier) < ($1.price.milliunits, $1.identifier) }
    }
}
