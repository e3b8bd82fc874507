/// What became of one recorded transaction: what was given for it, to whom, for which order, or why nothing was.
///
/// There is one for each transaction, and one for each ``GrantUnit`` that was ever granted: whatever the proofs say, and
/// however often they come, nothing is given twice.
package struct Fulfilment: Hashable, Sendable {
    package let transaction: TransactionKey
    package let original: TransactionID
    package let product: ProductID
    package let quantity: Int
    package let purchasedAt: Timestamp
    /// What Apple signed with it, by the newest copy that names one: an order that is placed later may name the same.
    package internal(set) var accountToken: AccountToken?
    /// Who gets it. `nil` while nobody is known.
    package internal(set) var customer: CustomerID?
    package internal(set) var state: FulfilmentState
    /// Why nothing was given. `nil` once something was, unless that turned out to be a family member's copy.
    package internal(set) var reason: FulfilmentReason?
    /// What this is the only grant of; `nil` until it is granted, and for ever after it stays.
    package internal(set) var unit: GrantUnit?
    package internal(set) var order: OrderID?
    package internal(set) var match: OrderMatch?
    /// Each with the end that it was given with, which a refund leaves: its reversal gives it again.
    package internal(set) var goods: [GrantedGoods]
    /// How much of it was taken back, in thousandths of a percent: 0 to 100 000. Where nothing was given, a part that counts
    /// for what was given by another number of the same purchase.
    package internal(set) var reversed: Int
    package internal(set) var reversedAt: Timestamp?
    /// `nil` while there is nothing to deliver.
    package internal(set) var delivery: DeliveryProgress?
    /// Rises with each change of what is to be delivered. Whoever delivers keeps it with the goods, and leaves alone
    /// what comes with a smaller one.
    package internal(set) var fence: Int64
    /// With which fence it came out of another ledger of ours: the shop was told of the changes until then by that one. 0 where
    /// it did not.
    package internal(set) var importedFence: Int64
    /// Another system delivered it before its record was imported: nobody is told to deliver it, and no balance rises.
    package internal(set) var isImported: Bool
    /// When the books were handed in out of which it was imported: what of its subscription was bought before that, and is heard
    /// of later, the other system delivered as well. `nil` for what was imported before that was kept.
    package internal(set) var booksClosedAt: Timestamp?
    /// Nobody had it when it was decided about, and only Apple's history tells of it: nobody knows what was delivered
    /// before, so that no order has it unless somebody presents it. So it stays while Apple takes it back and gives it again.
    package internal(set) var isOfHistory: Bool
    package internal(set) var decidedAt: Timestamp
    /// Counts its changes, so that of two writers who saw the same one only the first succeeds.
    package internal(set) var version: Int64

    package var key: TransactionKey { transaction }

    package var chain: ChainKey { ChainKey(app: transaction.app, realm: transaction.realm, original: original) }

    /// Whether something was given, also when all or a part of it was taken back.
    package var isGiven: Bool { state == .granted || isReversed }

    /// Whether all of it is still given: what was refunded, also in part, gives no access any more.
    package var isInForce: Bool { state == .granted }

    /// Whether it was given without an order, so that a person may still say which one it pays: not where all of it was taken
    /// back, nor where another system has delivered it.
    package var isGivenWithoutOrder: Bool {
        order == nil && !isImported && (state == .granted || state == .partlyReversed)
    }

    /// Whether Apple took back all or a part of what was given.
    package var isReversed: Bool { state == .reversed || state == .partlyReversed }

    /// Whether Apple took it back, also in part, after it was given or before.
    var isTakenBack: Bool { isReversed && !isTakenAsCopy || reason == .revoked }

    /// What was given, with the ends that it has by now: no later than Apple took it back.
    package var goodsByNow: [GrantedGoods] {
        guard isReversed, let reversedAt else { return goods }
        return goods.map { goods in
            guard case .entitlement(let id, let until) = goods else { return goods }
            return .entitlement(id, until: min(reversedAt, until ?? reversedAt))
        }
    }

    /// Whether it is still to be somebody's: it waits for that, whatever else for, or was withheld before anybody was known.
    var isOwnerless: Bool { (state == .waiting || state == .withheld) && customer == nil }

    /// Whether news of its chain may have it settled anew.
    var isHeldUp: Bool { state == .waiting || isOwnerless }

    /// Whether it waits for nothing but an order.
    package var lacksOrder: Bool { reason == .noOrder || reason == .orderContradicts }

    init(of recorded: RecordedTransaction, at now: Timestamp) {
        transaction = recorded.key
        original = recorded.chain.original
        product = recorded.transaction.product
        quantity = recorded.transaction.quantity
        purchasedAt = recorded.transaction.purchasedAt
        accountToken = recorded.transaction.accountToken
        customer = nil
        state = .waiting
        reason = nil
        unit = nil
        order = nil
        match = nil
        goods = []
        reversed = 0
        reversedAt = nil
        delivery = nil
        fence = 0
        importedFence = 0
        isImported = false
        isOfHistory = false
        decidedAt = now
        version = 1
    }

    /// A fulfilment as a store holds it.
    package init(stored: Stored) {
        transaction = stored.transaction
        original = stored.original
        product = stored.product
        quantity = stored.quantity
        purchasedAt = stored.purchasedAt
        accountToken = stored.accountToken
        customer = stored.customer
        state = stored.state
        reason = stored.reason
        unit = stored.unit
        order = stored.order
        match = stored.match
        goods = stored.goods
        reversed = stored.reversed
        reversedAt = stored.reversedAt
        delivery = stored.delivery
        fence = stored.fence
        importedFence = stored.importedFence
        isImported = stored.isImported
        booksClosedAt = stored.booksClosedAt
        isOfHistory = stored.isOfHistory
        decidedAt = stored.decidedAt
        version = stored.version
    }

    /// All that a store keeps of one, in no order.
    package struct Stored {
        package var transaction: TransactionKey
        package var original: TransactionID
        package var product: ProductID
        package var quantity: Int
        package var purchasedAt: Timestamp
        package var accountToken: AccountToken?
        package var customer: CustomerID?
        package var state: FulfilmentState
        package var reason: FulfilmentReason?
        package var unit: GrantUnit?
        package var order: OrderID?
        package var match: OrderMatch?
        package var goods: [GrantedGoods]
        package var reversed: Int
        package var reversedAt: Timestamp?
        package var delivery: DeliveryProgress?
        package var fence: Int64
        package var importedFence: Int64
        package var isImported: Bool
        package var booksClosedAt: Timestamp?
        package var isOfHistory: Bool
        package var decidedAt: Timestamp
        package var version: Int64

        package init(
            transaction: TransactionKey,
            original: TransactionID,
            product: ProductID,
            quantity: Int,
            purchasedAt: Timestamp,
            state: FulfilmentState,
            decidedAt: Timestamp,
            version: Int64
        ) {
            self.transaction = transaction
            self.original = original
            self.product = product
            self.quantity = quantity
            self.purchasedAt = purchasedAt
            self.state = state
            self.decidedAt = decidedAt
            self.version = version
            goods = []
            reversed = 0
            fence = 0
            importedFence = 0
            isImported = false
            isOfHistory = false
        }
    }
}

/// Where a fulfilment stands. Stable words of the API.
package enum FulfilmentState: String, Hashable, Sendable, CaseIterable {
    /// Nothing was given yet; something that is still to come may change that.
    case waiting
    /// Nothing is to be given.
    case withheld
    case granted
    /// It was given, and a part of it taken back: the rest of its amounts stays the customer's. Access is over.
    case partlyReversed = "partly_reversed"
    /// It was given, and all of it taken back; or a part of what gives access, which ends with any refund.
    case reversed
}

/// Why nothing was given. Stable words of the API.
package enum FulfilmentReason: String, Hashable, Sendable, CaseIterable {
    // Waiting.
    /// Nobody has said whose it is.
    case noCustomer = "no_customer"
    /// Only Apple's history tells of it, and nobody has presented it.
    case fromHistory = "from_history"
    /// The app delivers against orders, and none matches.
    case noOrder = "no_order"
    /// The product is not in the catalogue.
    case unknownProduct = "unknown_product"
    /// Apple and the catalogue call it different kinds of product.
    case kindContradicts = "kind_contradicts"
    /// The order that was named is not what was bought, or not by this customer.
    case orderContradicts = "order_contradicts"
    /// From the sandbox, and the app delivers none to this customer.
    case sandbox
    /// A quantity or a balance beyond all reason.
    case outOfRange = "out_of_range"

    // Withheld.
    /// Apple had taken it back before anything was given.
    case revoked
    /// An upgrade took its place before anything was given.
    case upgraded
    /// It is a family member's copy, and the product is for no family. Where that was not known when it was given, it is taken
    /// back.
    case familyShared = "family_shared"
    /// The period that was paid was over when we first heard of it.
    case expired
    /// A restore, or a repetition, of what was given before.
    case alreadyGranted = "already_granted"
}

/// What can be granted once in a chain: a purchase, a product that is bought for good, a paid period.
package struct GrantUnit: Hashable, Sendable {
    /// Printable ASCII without spaces.
    package let text: String

    package init(text: String) { self.text = text }
}

/// Something that was given.
package enum GrantedGoods: Hashable, Sendable {
    /// `nil` is for ever.
    case entitlement(EntitlementID, until: Timestamp?)
    case amount(GrantedAmount)
}

package struct GrantedAmount: Hashable, Sendable {
    package let currency: CurrencyID
    package let amount: Int64
    /// Taken back out of the balance.
    package var reversed: Int64
    /// To be taken back, but it was not there any more.
    package var uncollected: Int64

    /// What the customer has got of it, used or not.
    package var left: Int64 { amount - reversed }

    package init(currency: CurrencyID, amount: Int64, reversed: Int64 = 0, uncollected: Int64 = 0) {
        self.currency = currency
        self.amount = amount
        self.reversed = reversed
        self.uncollected = uncollected
    }
}

/// How far what was granted has come on its way to the shop. Stable words of the API.
package enum DeliveryProgress: String, Hashable, Sendable, CaseIterable {
    case pending
    /// The shop was told.
    case sent
    /// The shop has said that it delivered.
    case acknowledged
    /// The shop could not be told; it can still ask.
    case failed
    /// It was taken back: the shop is to undo all of it.
    case compensated
}
