/// What the shop asked for before it was bought, and waits to see paid.
package struct Order: Hashable, Sendable {
    package let app: AppID
    package let id: OrderID
    package let customer: CustomerID
    package let product: ProductID
    package let quantity: Int
    /// What the app gives StoreKit with this purchase.
    package let accountToken: AccountToken?
    package let placedAt: Timestamp
    /// A payment that comes later is still a payment: this only ends the waiting.
    package let expiresAt: Timestamp
    package internal(set) var state: OrderState
    package internal(set) var changedAt: Timestamp
    /// What pays it.
    package internal(set) var payment: Payment?
    /// How much of its payment Apple took back, in thousandths of a percent: 0 to 100 000. A part leaves the state as it is, as
    /// long as something of what was bought is left.
    package internal(set) var refunded: Int
    /// Counts its changes, so that of two writers who saw the same one only the first succeeds.
    package internal(set) var version: Int64

    package init(
        app: AppID,
        id: OrderID,
        customer: CustomerID,
        product: ProductID,
        quantity: Int,
        accountToken: AccountToken?,
        placedAt: Timestamp,
        expiresAt: Timestamp
    ) {
        self.app = app
        self.id = id
        self.customer = customer
        self.product = product
        self.quantity = quantity
        self.accountToken = accountToken
        self.placedAt = placedAt
        self.expiresAt = expiresAt
        state = .pending
        changedAt = placedAt
        payment = nil
        refunded = 0
        version = 1
    }

    /// An order as a store holds it.
    package init(
        _ order: Order,
        state: OrderState,
        changedAt: Timestamp,
        payment: Payment?,
        refunded: Int,
        version: Int64
    ) {
        self = order
        self.state = state
        self.changedAt = changedAt
        self.payment = payment
        self.refunded = refunded
        self.version = version
    }

    /// The same order as another clock would have it placed, waiting for as long.
    package func placed(at now: Timestamp) -> Order {
        Order(
            app: app,
            id: id,
            customer: customer,
            product: product,
            quantity: quantity,
            accountToken: accountToken,
            placedAt: now,
            expiresAt: now.advanced(by: placedAt.duration(to: expiresAt))
        )
    }

    package var key: OrderKey { OrderKey(app: app, id: id) }

    package var mayBePaid: Bool { state.isOpen }

    /// Whether a person may still say what pays it.
    package var mayBePaidByHand: Bool { state.isOpen || state == .cancelled }

    package func asks(for product: ProductID, _ quantity: Int) -> Bool {
        self.product == product && self.quantity == quantity
    }

    /// Which transaction pays an order, and how we know.
    package struct Payment: Hashable, Sendable {
        package let realm: Realm
        package let transaction: TransactionID
        package let match: OrderMatch

        package init(realm: Realm, transaction: TransactionID, match: OrderMatch) {
            self.realm = realm
            self.transaction = transaction
            self.match = match
        }
    }

    func isSame(as other: Order) -> Bool {
        key == other.key && customer == other.customer && product == other.product && quantity == other.quantity
            && accountToken == other.accountToken
    }

    mutating func change(to state: OrderState, at now: Timestamp) {
        self.state = state
        changedAt = now
    }
}

/// The stages of an order. Stable words of the API.
package enum OrderState: String, Hashable, Sendable, CaseIterable {
    case pending, paid, delivered, expired, cancelled, refunded

    /// Whether a transaction may still pay it.
    var isOpen: Bool { self == .pending || self == .expired }
}

/// How an order and a transaction were found to belong together, the surest first. Stable words of the API.
package enum OrderMatch: String, Hashable, Sendable, CaseIterable {
    /// Whoever sent the proof named the order.
    case orderID = "order_id"
    /// Apple signed the order's account token.
    case accountToken = "account_token"
    /// Apple signed a token that a client library makes of the customer's name.
    case customerToken = "customer_token"
    /// The customer's next open order for this product: the oldest of those that wait, or else of those that expired.
    case customerAndProduct = "customer_and_product"
    /// A person said so.
    case byHand = "by_hand"
    /// A person said so, and that the account token that Apple signed does not count.
    case byHandAgainstToken = "by_hand_against_token"
}

/// What makes an order the same one.
package struct OrderKey: Hashable, Sendable {
    package let app: AppID
    package let id: OrderID

    package init(app: AppID, id: OrderID) {
        self.app = app
        self.id = id
    }
}
