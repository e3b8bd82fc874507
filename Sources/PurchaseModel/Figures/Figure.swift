/// What is counted, or summed up. Stable words: they stand in the stores and in the API.
package enum Measure: String, Hashable, Sendable, CaseIterable {
    // Of each transaction, on the day of the purchase.
    case firstPurchases = "first_purchases"
    case renewals
    case trials
    case restores
    case familyShared = "family_shared"
    case revenue
    case priceUnknown = "price_unknown"
    // The same, on the day on which Apple took it back.
    case refunds
    case refunded
    case refundUnknown = "refund_unknown"
    // On the day of the upgrade.
    case upgrades
    case upgradeCredit = "upgrade_credit"
    // Of each trial that was paid for: on the day of the first paid period after it; on the day on which it began.
    case trialsConverted = "trials_converted"
    case convertedTrials = "converted_trials"
    // On the day on which a paid period ended.
    case periodsEnded = "periods_ended"
    case periodsRenewed = "periods_renewed"
    // On the day on which a period ended whose renewal could not be charged.
    case renewalsFailed = "renewals_failed"
    case renewalsPaidInGrace = "renewals_paid_in_grace"
    case renewalsPaidInRetry = "renewals_paid_in_retry"
    case renewalsLost = "renewals_lost"
    // At the first moment of a month, which is the day.
    case subscribers
    case recurring = "mrr"
    case recurringUnknown = "mrr_unknown"
    // During a month, whose first day is the day.
    case subscribersLost = "subscribers_lost"
    case recurringNew = "mrr_new"
    case recurringExpansion = "mrr_expansion"
    case recurringContraction = "mrr_contraction"
    case recurringChurn = "mrr_churn"
    case recurringReactivation = "mrr_reactivation"
    /// Of the subscriptions that began in a month those that ran so many months later.
    case cohort
    // On the day on which the order was placed.
    case ordersPlaced = "orders_placed"
    case ordersPaid = "orders_paid"
    case ordersDelivered = "orders_delivered"
    case ordersExpired = "orders_expired"
    case ordersCancelled = "orders_cancelled"
    case ordersRefunded = "orders_refunded"
    // Of what was given, on the day of the purchase.
    case granted
    case acknowledged
    // How subscriptions stand now; the day says nothing.
    case active = "subscriptions_active"
    case grace = "subscriptions_grace_period"
    case billingRetry = "subscriptions_billing_retry"
    case expired = "subscriptions_expired"
    case revoked = "subscriptions_revoked"
    case unknown = "subscriptions_unknown"
    // On the day on which a period that runs now ends.
    case renewalsDue = "renewals_due"
    case valueDue = "value_due"
    // What was told of subscriptions, on the day on which we learned of it.
    case graceStarted = "grace_started"
    case retryStarted = "billing_retry_started"
    case recovered
    case lapsed

    /// Whether it is an amount of money in thousandths of a currency's unit.
    package var isMoney: Bool {
        switch self {
        case .revenue, .refunded, .upgradeCredit, .valueDue, .recurring, .recurringNew, .recurringExpansion,
            .recurringContraction, .recurringChurn, .recurringReactivation:
            true
        default: false
        }
    }
}

/// What one figure is of.
package struct FigureKey: Hashable, Sendable {
    package var app: AppID
    /// `nil` for what stands on no side of the wall, such as an order.
    package var realm: Realm?
    package var measure: Measure
    package var day: DayOfTime
    /// `nil` where it is not counted by.
    package var product: ProductID?
    /// Empty where it is not known or not counted by.
    package var storefront: String
    /// Empty for what is no money.
    package var currency: String
    /// Months after the first, for a cohort; 0 for all else.
    package var step: Int64

    package init(
        app: AppID,
        realm: Realm?,
        measure: Measure,
        day: DayOfTime,
        product: ProductID?,
        storefront: String = "",
        currency: String = "",
        step: Int64 = 0
    ) {
        self.app = app
        self.realm = realm
        self.measure = measure
        self.day = day
        self.product = product
        self.storefront = storefront
        self.currency = currency
        self.step = step
    }

    /// Without what hardly ever tells two keys apart that agree in all else. Of texts a few bytes: Swift hashes them whole, one
    /// after the other, and a decision counts some fifteen figures of each purchase. No sender chooses them: a product is one
    /// that Apple sells.
    package func hash(into hasher: inout Hasher) {
        var number = UInt64(bitPattern: day.number) &* 0x9E37_79B9_7F4A_7C15
        number ^= UInt64(bitPattern: step) << 16 ^ UInt64(measure.rawValue.utf8.count)
        number ^= (product?.text.mark ?? 0) &* 0xBF58_476D_1CE4_E5B9
        number ^= storefront.mark &* 0x94D0_49BB_1331_11EB
        hasher.combine(number)
    }
}

/// Figures, and how much each comes to. What comes to nothing is not among them.
package struct FigureSums: Hashable, Sendable {
    package private(set) var values: [FigureKey: Int64] = [:]

    package init() {}

    /// With room for so many figures.
    package init(minimumCapacity: Int) { values.reserveCapacity(minimumCapacity) }

    package var isEmpty: Bool { values.isEmpty }

    package subscript(key: FigureKey) -> Int64 { values[key] ?? 0 }

    package mutating func add(_ amount: Int64, to key: FigureKey) {
        // One look for what is nearly always: a sum that does not come to nothing.
        if Self.raise(&values[key, default: 0], by: amount) { values[key] = nil }
    }

    /// - Returns: whether it comes to nothing.
    private static func raise(_ sum: inout Int64, by amount: Int64) -> Bool {
        sum &+= amount
        return sum == 0
    }

    package mutating func add(_ other: FigureSums) {
        if isEmpty { return self = other }
        for (key, amount) in other.values { add(amount, to: key) }
    }

    package mutating func subtract(_ other: FigureSums) {
        for (key, amount) in other.values { add(0 &- amount, to: key) }
    }
}

extension String {
    /// Its length and its last seven bytes, by which nearly all names of products differ.
    fileprivate var mark: UInt64 {
        let bytes = utf8.span
        var mark = UInt64(bytes.count)
        for place in max(bytes.count - 7, 0)..<bytes.count { mark = mark << 8 | UInt64(bytes[place]) }
        return mark
    }
}
