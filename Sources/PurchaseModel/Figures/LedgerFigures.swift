// What each row of the ledger adds to the figures. A figure is the sum of what all rows add, so a change of a row changes
// it by what the row adds after less what it added before.

/// A row that figures are sums of.
package protocol CountedRow {
    /// Adds what it comes to as it stands.
    func count(in sums: inout FigureSums)
}

extension CountedRow {
    package var figures: FigureSums {
        var sums = FigureSums()
        count(in: &sums)
        return sums
    }
}

extension ChainKey {
    /// What a chain adds.
    ///
    /// - Parameters:
    ///   - transactions: all of it that are recorded, in any order.
    ///   - ends: what Apple has said of the ends of its periods.
    /// - Returns: the sums.
    package func figures(_ transactions: some Collection<Transaction>, _ ends: PeriodEnds) -> FigureSums {
        var sums = FigureSums()
        count(transactions, ends, in: &sums)
        return sums
    }

    func count(_ transactions: some Collection<Transaction>, _ ends: PeriodEnds, in sums: inout FigureSums) {
        var periods: [Transaction] = []
        var seen: Set<PeriodName> = []
        let sorted = transactions.sorted { ($0.purchasedAt, $0.id) < ($1.purchasedAt, $1.id) }
        for transaction in sorted {
            guard transaction.isSubscriptionPeriod else {
                Sale(transaction, in: self, isRepetition: false, isFirst: transaction.id == original).add(to: &sums)
                continue
            }
            let isNew = PeriodName(transaction).map { seen.insert($0).inserted } ?? true
            // The chain before has it, too.
            let isRepeated = ends.origin?.repeated?.seconds == transaction.purchasedAt.seconds
            let isFirst = transaction.id == original && ends.origin == nil
            Sale(transaction, in: self, isRepetition: !isNew || isRepeated, isFirst: isFirst).add(to: &sums)
            if isNew, !isRepeated { periods.append(transaction) }
        }
        if periods.isEmpty { return }
        PaidPeriods(self, periods, ends).add(to: &sums)
        if ends.isEmpty { return }
        let owned = periods.filter { $0.ownership != .familyShared }
        FailedRenewals(chain: self, periods: owned, ends: ends.failed).add(to: &sums)
    }
}

extension Order: CountedRow {
    /// All on the day on which it was placed: so of each day's orders it can be said how far they came.
    package func count(in sums: inout FigureSums) {
        let day = DayOfTime(containing: placedAt)
        var key = FigureKey(app: app, realm: nil, measure: .ordersPlaced, day: day, product: product)
        sums.add(1, to: key)
        if payment != nil {
            key.measure = .ordersPaid
            sums.add(1, to: key)
        }
        switch state {
        case .delivered: key.measure = .ordersDelivered
        case .expired: key.measure = .ordersExpired
        case .cancelled: key.measure = .ordersCancelled
        case .refunded: key.measure = .ordersRefunded
        case .pending, .paid: return
        }
        sums.add(1, to: key)
    }
}

extension Fulfilment: CountedRow {
    package func count(in sums: inout FigureSums) {
        guard unit != nil else { return }
        var key = FigureKey(
            app: transaction.app,
            realm: transaction.realm,
            measure: .granted,
            day: DayOfTime(containing: purchasedAt),
            product: product
        )
        sums.add(1, to: key)
        if delivery == .acknowledged {
            key.measure = .acknowledged
            sums.add(1, to: key)
        }
    }
}

extension RecordedSubscription: CountedRow {
    /// Where it stands, and when it renews: a copy does with the subscription of whoever shares it, and costs nothing.
    package func count(in sums: inout FigureSums) {
        // It is the one that goes on with it.
        if ends.move != nil { return }
        var key = FigureKey(
            app: chain.app,
            realm: chain.realm,
            measure: Measure(state),
            day: DayOfTime(number: 0),
            product: product
        )
        sums.add(1, to: key)
        guard state == .active, willAutoRenew != false, !isShared, let expiresAt else { return }
        (key.measure, key.day) = (.renewalsDue, DayOfTime(containing: expiresAt))
        sums.add(1, to: key)
        // As long as nobody has said whether it renews the price is one of a renewal before.
        if willAutoRenew != nil, let price = renewal?.filled(until: expiresAt).nextPrice?.counted {
            (key.measure, key.currency) = (.valueDue, price.currency)
            sums.add(price.milliunits, to: key)
        }
    }
}

extension EventType {
    /// Where an event of a subscription counts: on the day on which we learned of it, and under no product, which is not
    /// kept with it. `nil` for one that is not counted.
    package func figure(_ stream: StreamKey, learnedAt: Timestamp) -> FigureKey? {
        let measure: Measure
        switch self {
        case .subscriptionGraceStarted: measure = .graceStarted
        case .subscriptionBillingRetryStarted: measure = .retryStarted
        case .subscriptionRecovered: measure = .recovered
        case .subscriptionExpired: measure = .lapsed
        default: return nil
        }
        let day = DayOfTime(containing: learnedAt)
        return FigureKey(app: stream.app, realm: stream.realm, measure: measure, day: day, product: nil)
    }
}

extension Measure {
    /// How many subscriptions stand so.
    package init(_ state: SubscriptionState) {
        self =
            switch state {
            case .active: .active
            case .expired: .expired
            case .billingRetry: .billingRetry
            case .grace: .grace
            case .revoked: .revoked
            case .unknown: .unknown
            }
    }
}

/// What makes a paid period the same one under another number, which it gets when it is restored.
private struct PeriodName: Hashable {
    let end: Int64
    let product: ProductID
    let isShared: Bool

    init?(_ transaction: Transaction) {
        guard let expiresAt = transaction.expiresAt else { return nil }
        // To the second: receipts know no more.
        end = expiresAt.seconds
        product = transaction.product
        isShared = transaction.ownership == .familyShared
    }
}
