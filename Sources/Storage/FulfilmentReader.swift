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
    func waitingFulfilments(
        for wish: WishKey,
        tokens: [AccountToken],
        limit: Int
    ) throws(StoreFailure) -> [Fulfilment]

    /// Everything of an app that waits, in no order that means anything, after a place in the listing; the limit is
    /// brought between 1 and ``FulfilmentPage/limitMax``.
    func waitingFulfilments(
        app: AppID,
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

extension StoreReader {
    /// What is known around some verified proofs: what decisions about them are made from.
    package func situation(around recordings: [Recording]) throws(StoreFailure) -> Situation {
        var situation = Situation(try transactions(recordings.flatMap(\.keys)))
        try answer(Inquiry(recordings, among: situation), in: &situation)
        try answerKin(in: &situation)
        let reconsidered = situation.reconsidered(for: recordings)
        if !reconsidered.isEmpty {
            for recorded in try transactions(reconsidered) { situation.note(recorded) }
            // What waits may say from which chain it goes on.
            try answerKin(in: &situation)
        }
        let periods = situation.periods(before: recordings)
        if !periods.isEmpty {
            for recorded in try transactions(periods) { situation.note(recorded) }
        }
        try answerBeside(in: &situation, with: recordings)
        // Before the rest, as it may say whose the rest is.
        var beside = Inquiry()
        beside.tokens = situation.tokens(beside: recordings)
        if !beside.tokens.isEmpty { try answer(beside, in: &situation) }
        try answer(Inquiry(recordings, after: situation), in: &situation)
        return situation
    }

    /// What is known around an order that is to be placed: also what may have been bought for it already.
    package func situation(
        placing order: Order,
        customerToken: AccountToken?,
        _ terms: AppTerms
    ) throws(StoreFailure) -> Situation {
        var situation = Situation()
        try answer(Inquiry(placing: order, customerToken: customerToken), in: &situation)
        guard situation.order(order.key) == nil else { return situation }
        let waiting = try waitingFulfilments(
            for: WishKey(app: order.app, customer: order.customer, product: order.product),
            tokens: [order.accountToken, customerToken].compactMap(\.self),
            limit: FulfilmentPage.limitMax
        )
        let recorded = try transactions(waiting.map(\.transaction))
        for recorded in recorded { situation.note(recorded) }
        try answer(Inquiry(deciding: recorded, for: { _ in [order.customer] }, terms), in: &situation)
        try answerKin(in: &situation)
        let heldUp = try noteAgain(recorded, andBeside: true, in: &situation)
        try answerBeside(in: &situation)
        // A chain may have become another customer's while its purchase waited.
        var second = Inquiry(
            deciding: recorded + heldUp,
            for: { [situation.owner(of: $0), order.customer].compactMap(\.self) },
            terms
        )
        second.touch(situation.fulfilments(around: recorded))
        try answer(second, in: &situation)
        return situation
    }

    /// What is known around transactions, and an order if one is named.
    package func situation(
        of keys: [TransactionKey],
        order: OrderKey? = nil,
        _ terms: AppTerms
    ) throws(StoreFailure) -> Situation {
        let recorded = try transactions(keys)
        var situation = Situation(recorded)
        var first = Inquiry(deciding: recorded, for: { _ in [] }, terms)
        if let order { first.orders.insert(order) }
        try answer(first, in: &situation)
        try answerKin(in: &situation)
        let payer = order.flatMap { situation.order($0)?.customer }
        let heldUp = try noteAgain(recorded, andBeside: order != nil, in: &situation)
        try answerBeside(in: &situation)
        var second = Inquiry(
            deciding: recorded + heldUp,
            for: { [situation.owner(of: $0), payer].compactMap(\.self) },
            terms
        )
        second.touch(situation.fulfilments(around: recorded))
        try answer(second, in: &situation)
        return situation
    }

    /// Reads transactions once more, now that what was given for them is known: a fact that is newer than that is told by a
    /// conflict, one that is older would not be. With them, where it is wanted, what waits beside them.
    ///
    /// - Returns: what waits beside them.
    private func noteAgain(
        _ recorded: [RecordedTransaction],
        andBeside isBesideWanted: Bool,
        in situation: inout Situation
    ) throws(StoreFailure) -> [RecordedTransaction] {
        guard !recorded.isEmpty else { return [] }
        let beside = isBesideWanted ? situation.heldUp(beside: recorded) : []
        let found = try transactions(recorded.map(\.key) + beside)
        for recorded in found { situation.note(recorded) }
        let keys = Set(beside)
        return found.filter { keys.contains($0.key) }
    }

    /// Looks up what tells whose those are of which Apple has not said it.
    private func answerBeside(
        in situation: inout Situation,
        with recordings: [Recording] = []
    ) throws(StoreFailure) {
        let beside = situation.besideUnsaid(with: recordings)
        if beside.isEmpty { return }
        for recorded in try transactions(beside) { situation.note(beside: recorded) }
    }

    /// Looks up the other chains of subscriptions that Apple goes on with under another number, the whole line of them.
    private func answerKin(in situation: inout Situation) throws(StoreFailure) {
        for _ in 0..<ChainKey.movesMax {
            let kin = situation.kin.subtracting(situation.asked)
            if kin.chains.isEmpty { return }
            try answer(kin, in: &situation)
        }
    }

    /// Looks up what is asked, as far as it was not before, and notes it.
    ///
    /// Where each question sees what was committed until then, a row with a version is read before what it vouches for: if it
    /// is older than the rest, that is told by a conflict; if it were newer, it would vouch for what was not seen.
    package func answer(_ asked: Inquiry, in situation: inout Situation) throws(StoreFailure) {
        let inquiry = asked.subtracting(situation.asked)
        situation.asked.formUnion(inquiry)
        // Where there are many, a journey for each question is little beside asking twice.
        let isForeseen = inquiry.chains.count <= 64
        if isForeseen {
            try foresee { () throws(StoreFailure) in
                _ = try lastEventSequences(Array(inquiry.customers))
                _ = try subscriptions(Array(inquiry.subscriptions))
                _ = try ownersAndVacancies(Array(inquiry.chains))
            }
        }
        try noteLastNumbers(of: inquiry.customers, in: &situation)
        if !inquiry.subscriptions.isEmpty {
            for found in try subscriptions(Array(inquiry.subscriptions)) { situation.note(found) }
        }
        try noteOwners(of: inquiry.chains, in: &situation)
        if isForeseen {
            try foresee { () throws(StoreFailure) in
                _ = try owners(of: Array(inquiry.tokens))
                _ = try fulfilments(Array(inquiry.chains))
                _ = try orders(Array(inquiry.orders))
                _ = try openOrders(tokens: Array(inquiry.tokens))
                _ = try openOrders(wishes: Array(inquiry.wishes))
                _ = try wallets(Array(inquiry.wallets))
            }
        }
        for found in try owners(of: Array(inquiry.tokens)) { situation.note(found) }
        for found in try fulfilments(Array(inquiry.chains)) { situation.note(found) }
        for found in try orders(Array(inquiry.orders)) { situation.note(found) }
        for found in try openOrders(tokens: Array(inquiry.tokens)) { situation.note(found) }
        for found in try openOrders(wishes: Array(inquiry.wishes)) { situation.note(found) }
        for found in try wallets(Array(inquiry.wallets)) { situation.note(found) }
        if !inquiry.consumptions.isEmpty {
            for found in try consumptionRequests(Array(inquiry.consumptions)) { situation.note(found) }
        }
        if !inquiry.refundRequests.isEmpty {
            for found in try openConsumptionRequests(of: Array(inquiry.refundRequests)) { situation.note(found) }
        }
        for chain in inquiry.refundsDeclined { try noteRefundsDeclined(of: chain, in: &situation) }
        if !inquiry.consents.isEmpty {
            for found in try consents(Array(inquiry.consents)) { situation.note(found) }
        }
        if !inquiry.grantedEntitlements.isEmpty {
            for found in try grantedEntitlements(Array(inquiry.grantedEntitlements)) { situation.note(found) }
        }
    }

    private func noteLastNumbers(of streams: Set<StreamKey>, in situation: inout Situation) throws(StoreFailure) {
        guard !streams.isEmpty else { return }
        for (stream, last) in try lastEventSequences(Array(streams)) { situation.note(last, of: stream) }
    }

    /// Whose chains are, and how far their owners have been told: a transfer is told of in the old owner's stream, so that
    /// whoever turns out to be one is looked at again after his stream was.
    private func noteOwners(of chains: Set<ChainKey>, in situation: inout Situation) throws(StoreFailure) {
        var unsure = Array(chains)
        while !unsure.isEmpty {
            let found = try ownersAndVacancies(unsure)
            for vacancy in found.vacancies { situation.note(vacancy) }
            for owner in found.owners { situation.note(owner) }
            let fresh = found.owners.filter { !situation.asked.customers.contains($0.stream) }
            let streams = Set(fresh.map(\.stream))
            try noteLastNumbers(of: streams, in: &situation)
            situation.asked.customers.formUnion(streams)
            unsure = fresh.map(\.chain)
        }
    }
}

extension Owner {
    /// In which the owner is told of what is given.
    fileprivate var stream: StreamKey { StreamKey(app: chain.app, realm: chain.realm, customer: customer) }
}

extension Situation {
    fileprivate func owner(of recorded: RecordedTransaction) -> CustomerID? { owner(of: chain(of: recorded))?.customer }
}
