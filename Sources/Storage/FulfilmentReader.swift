package import PurchaseModel

/// The questions about orders, about what was given for transactions, and about whose they are.
///
/// Those that take several keys answer all of them at once, in no order, and leave out what there is not.
package protocol FulfilmentReader {
    /// Has the questions that come next asked at once, where that saves journeys to a database. They are asked all the same,
    /// in this order and before anything is written; otherwise nothing is won.
    ///
    /// - Parameter ask: asks them, and finds nothing.
    /// - Throws: what it throws, and what a question throws.
    func foresee(_ ask: () throws(StoreFailure) -> Void) throws(StoreFailure)

    /// All that stand in these chains.
    func fulfilments(_ chains: [ChainKey]) throws(StoreFailure) -> [Fulfilment]

    /// Those that wait for a product, of a customer, or with one of these tokens whosever they are, save those that only
    /// Apple's history tells of; the limit is brought between 1 and ``FulfilmentPage/limitMax``.
    ///
    /// Those with a token come first, token by token. Among them, and among the others, what was paid for comes before what is
    /// from a sandbox, and then what was bought first: what has waited there for long leaves nothing out that an order needs.
    func waitingFulfilments(
        for wish: WishKey,
        tokens: [AccountToken],
        limit: Int
    ) throws(StoreFailure) -> [Fulfilment]

    /// Everything of an app that waits on some sides of the wall, or on all where none are named, in no order that means
    /// anything, after a place in the listing; the limit is brought between 1 and ``FulfilmentPage/limitMax``.
    func waitingFulfilments(
        app: AppID,
        on sides: Set<Realm>?,
        after cursor: FulfilmentCursor?,
        limit: Int
    ) throws(StoreFailure) -> FulfilmentPage

    /// Whose these chains are, and which of them are noted to be nobody's.
    func ownersAndVacancies(
        _ chains: [ChainKey]
    ) throws(StoreFailure) -> (owners: [Owner], vacancies: [Vacancy])

    /// The chains that a customer owns or shares, the lowest originals first; at most `ChainKey.listedMax`.
    func chains(app: AppID, customer: CustomerID) throws(StoreFailure) -> [ChainKey]

    /// Whether anything on that side of the wall is a customer's that never was anybody else's.
    func hasBought(_ customer: CustomerID, app: AppID, realm: Realm) throws(StoreFailure) -> Bool

    func owners(of tokens: [TokenKey]) throws(StoreFailure) -> [TokenOwner]

    func orders(_ keys: [OrderKey]) throws(StoreFailure) -> [Order]

    /// The orders that may still be paid and name one of these tokens; as many for each, and in the same order, as for a
    /// wish.
    func openOrders(tokens: [TokenKey]) throws(StoreFailure) -> [Order]

    /// The orders that may still be paid, for each of these wishes: those that wait before those that gave up waiting, and
    /// the oldest first; at most `Order.openMax` for each.
    func openOrders(wishes: [WishKey]) throws(StoreFailure) -> [Order]

    /// An app's orders, or a customer's, by their ids after one of them; the limit is brought between 1 and
    /// ``OrderPage/limitMax``.
    func orders(
        app: AppID,
        customer: CustomerID?,
        after id: OrderID?,
        limit: Int
    ) throws(StoreFailure) -> OrderPage

    /// An app's orders in any of these states that were placed at a moment or later, the newest first, before a place in
    /// the listing; the limit is brought between 1 and ``OrderPage/limitMax``.
    func orders(
        app: AppID,
        states: Set<OrderState>,
        placedSince moment: Timestamp,
        before cursor: OrderCursor?,
        limit: Int
    ) throws(StoreFailure) -> PlacedOrders

    /// Pending orders whose time is over, the longest over first; the limit is brought between 1 and
    /// ``OrderPage/limitMax``.
    func overdueOrders(at now: Timestamp, limit: Int) throws(StoreFailure) -> [OrderKey]

    func wallets(_ keys: [WalletKey]) throws(StoreFailure) -> [Wallet]

    /// All balances that a customer ever had; at most `Wallet.listedMax`.
    func wallets(app: AppID, customer: CustomerID) throws(StoreFailure) -> [Wallet]

    /// The recorded ones among these, in no order.
    func grantedEntitlements(_ keys: [GrantedEntitlementKey]) throws(StoreFailure) -> [GrantedEntitlement]

    /// All that a customer was ever granted by hand, by realm and name: no more than the app's catalogues ever had.
    func grantedEntitlements(app: AppID, customer: CustomerID) throws(StoreFailure) -> [GrantedEntitlement]

    /// A wallet's postings, the newest first, before a number; the limit is brought between 1 and
    /// `Wallet.postingsMax`.
    func postings(_ wallet: WalletKey, before number: Int64?, limit: Int) throws(StoreFailure) -> [Posting]
}

/// Some of an app's fulfilments.
package struct FulfilmentPage: Hashable, Sendable {
    /// The most that one page holds.
    package static let limitMax = 500

    package var fulfilments: [Fulfilment]
    /// `nil` when there are no more.
    package var next: FulfilmentCursor?

    package init(fulfilments: [Fulfilment] = [], next: FulfilmentCursor? = nil) {
        self.fulfilments = fulfilments
        self.next = next
    }
}

/// A place in a listing of an app's fulfilments: the last one that was listed.
package struct FulfilmentCursor: Hashable, Sendable {
    package let original: TransactionID
    package let realm: Realm
    package let transaction: TransactionID

    package init(original: TransactionID, realm: Realm, transaction: TransactionID) {
        self.original = original
        self.realm = realm
        self.transaction = transaction
    }

    init(_ fulfilment: Fulfilment) {
        self.init(
            original: fulfilment.original,
            realm: fulfilment.transaction.realm,
            transaction: fulfilment.transaction.id
        )
    }
}

/// Some of an app's orders.
package struct OrderPage: Hashable, Sendable {
    /// The most that one page holds.
    package static let limitMax = 500

    package var orders: [Order]
    /// `nil` when there are no more.
    package var next: OrderID?

    package init(orders: [Order] = [], next: OrderID? = nil) {
        self.orders = orders
        self.next = next
    }
}

/// A place in a listing of orders by when they were placed.
package typealias OrderCursor = TimeCursor<OrderID>

/// Some of an app's orders, the newest first.
package struct PlacedOrders: Hashable, Sendable {
    package var orders: [Order]
    /// `nil` when there are no more.
    package var next: OrderCursor?

    package init(orders: [Order] = [], next: OrderCursor? = nil) {
        self.orders = orders
        self.next = next
    }

    /// A page of what was found, which has one more than the page where there are more.
    init(_ found: [Order], limit: Int) {
        orders = Array(found.prefix(limit))
        next = found.count > limit ? orders.last.map(\.listed) : nil
    }
}

extension Order {
    /// Its place in such a listing.
    package var listed: OrderCursor { OrderCursor(placedAt, id) }
}

extension ChainKey {
    /// A customer with more purchases than that is none. Who buys coins every day for years has thousands.
    package static let listedMax = 100_000
}

extension Order {
    /// How many open orders for one product a payment is compared with: the next to be paid. Of those that gave up there may
    /// be any number; who waits with more than these, of other quantities or tokens, may have the one that fits left out.
    package static let openMax = 200
}

extension Wallet {
    /// How many currencies are listed.
    package static let listedMax = 500
    /// The most postings that one page holds.
    package static let postingsMax = 500
}

extension FulfilmentReader {
    package func foresee(_ ask: () throws(StoreFailure) -> Void) {}

    package func owners(_ chains: [ChainKey]) throws(StoreFailure) -> [Owner] { try ownersAndVacancies(chains).owners }
}
