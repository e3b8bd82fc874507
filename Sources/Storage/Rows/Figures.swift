package import PurchaseModel

/// Which figures to add up, and what to keep apart.
package struct FigureQuestion: Hashable, Sendable {
    /// What figures can be kept apart by, beside the currency and the step, which always are.
    package enum Dimension: Hashable, Sendable {
        case day, product, storefront
    }

    package var app: AppID
    /// `nil` for what stands on no side of the wall.
    package var realm: Realm?
    package var measure: Measure
    package var days: ClosedRange<DayOfTime>
    package var by: Set<Dimension>

    package init(
        app: AppID,
        realm: Realm?,
        measure: Measure,
        days: ClosedRange<DayOfTime>,
        by: Set<Dimension> = []
    ) {
        self.app = app
        self.realm = realm
        self.measure = measure
        self.days = days
        self.by = by
    }
}

/// The sum of some figures.
package struct FigureRow: Hashable, Sendable {
    /// The most that are listed at once.
    package static let listedMax = 20_000

    /// `nil` when days are not kept apart.
    package var day: DayOfTime?
    package var product: ProductID?
    /// Empty when it is not known, or not kept apart.
    package var storefront: String
    /// Empty for what is no money.
    package var currency: String
    package var step: Int64
    package var amount: Int64

    package init(
        day: DayOfTime? = nil,
        product: ProductID? = nil,
        storefront: String = "",
        currency: String = "",
        step: Int64 = 0,
        amount: Int64
    ) {
        self.day = day
        self.product = product
        self.storefront = storefront
        self.currency = currency
        self.step = step
        self.amount = amount
    }
}

/// One figure as it is kept.
package struct WalkedFigure: Hashable, Sendable {
    package var key: FigureKey
    package var amount: Int64

    package init(key: FigureKey, amount: Int64) {
        self.key = key
        self.amount = amount
    }
}

/// How often proofs were refused for one reason on one day.
package struct RefusalDay: Hashable, Sendable {
    package var day: DayOfTime
    /// The word for the reason.
    package var reason: String
    package var count: Int

    package init(day: DayOfTime, reason: String, count: Int) {
        self.day = day
        self.reason = reason
        self.count = count
    }
}

/// Some subscriptions in one state, by chain.
package struct SubscriptionPage: Hashable, Sendable {
    package var subscriptions: [RecordedSubscription]
    /// The last one that was listed; `nil` when there are no more.
    package var next: TransactionID?

    package init(subscriptions: [RecordedSubscription] = [], next: TransactionID? = nil) {
        self.subscriptions = subscriptions
        self.next = next
    }
}
