package import PurchaseModel
package import Storage

/// What the shop asks of the ledger, each inside one write: read around it, decide, write what was decided.
///
/// A refusal writes nothing. The closure of a write may run again; so may these.
package enum LedgerRequests {
    /// Places an order; the same order again is the one that there is. It waits by the store's clock, which ends its
    /// waiting.
    package static func place(
        _ wanted: Order,
        for app: AppPolicy,
        at callers: Timestamp,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> Result<Order, RequestFault> {
        let now = try transaction.storeTime(callers)
        let order = wanted.placed(at: now)
        let token = AccountToken(ofCustomer: order.customer)
        let situation = try transaction.situation(placing: order, customerToken: token, app.terms, where: app.shows)
        let result = try write(in: transaction) { () throws(RequestFault) in
            try decide(situation, placing: order, ownToken: AccountToken.init(ofCustomer:), terms: app.terms, at: now)
        }
        return result.map { decision in
            decision.orders.first { $0.row.key == order.key }?.row ?? situation.order(order.key) ?? order
        }
    }

    /// Ends an order's waiting. One of which `app` sees nothing is not there; `nil` sees all.
    package static func cancel(
        _ key: OrderKey,
        for app: AppPolicy? = nil,
        at now: Timestamp,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> Result<Order, RequestFault> {
        let situation = try self.situation(of: [key], in: transaction)
        if let app, let order = situation.order(key), !order.isShown(by: app) { return .failure(.unknown) }
        let result = try write(in: transaction) { () throws(RequestFault) in
            try decide(situation, cancelling: key, at: now)
        }
        return order(key, after: result, in: situation)
    }

    /// Ends the waiting of orders whose time is over by the store's clock: one server's that is ahead would end that of
    /// everybody's.
    ///
    /// - Returns: how many.
    package static func expireOrders(
        limit: Int,
        at callers: Timestamp,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> Int {
        let now = try transaction.storeTime(callers)
        let keys = try transaction.overdueOrders(at: now, limit: limit)
        guard !keys.isEmpty else { return 0 }
        let situation = try self.situation(of: keys, in: transaction)
        let decision = decide(situation, expiring: keys, at: now)
        try apply(decision, in: transaction)
        return decision.orders.count
    }

    /// Tells of proofs that had to wait, and end without anything being recorded. An import's are told in its report, and what
    /// is taken, after some of it was recorded, by the events of that.
    static func tell(
        _ settled: [KeptSubmission],
        at now: Timestamp,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) {
        let told = settled.filter { $0.submission.origin == .presented }.compactMap(\.settled)
            .filter { !$0.isRecordedInPart || $0.verdict == nil }
        guard !told.isEmpty else { return }
        var inquiry = Inquiry()
        inquiry.customers = Set(told.map(\.stream))
        var situation = Situation()
        try transaction.answer(inquiry, in: &situation)
        try apply(decide(situation, telling: told, at: now), in: transaction)
    }

    /// Tells of subscriptions what time alone has made of them, and says when to look again: see
    /// `decide(_:lookingAt:schedule:at:)`.
    ///
    /// - Returns: how many have changed.
    package static func look(
        at chains: [ChainKey],
        askedOf newest: TransactionID? = nil,
        schedule: LookSchedule = LookSchedule(),
        at callers: Timestamp,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> Int {
        let now = try transaction.storeTime(callers)
        var situation = try transaction.situation(lookingAt: chains)
        var changed = 0
        for chain in chains {
            let decision = decide(situation, lookingAt: chain, askedOf: newest, schedule: schedule, at: now)
            if decision.isEmpty { continue }
            try apply(decision, in: transaction)
            situation.apply(decision)
            changed += 1
        }
        return changed
    }

    /// Has a transaction that waits, or was given without an order, pay one; a dry run only says whether it can. One of which
    /// `app` sees nothing is not there.
    package static func attach(
        _ key: TransactionKey,
        to order: OrderKey,
        overrulesToken: Bool,
        for app: AppPolicy,
        isDryRun: Bool = false,
        at now: Timestamp,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> Result<Order, RequestFault> {
        let situation = try transaction.situation(of: [key], order: order, app.terms)
        if let placed = situation.order(order), !placed.isShown(by: app) { return .failure(.unknown) }
        let result = try write(in: transaction, isDryRun: isDryRun) { () throws(RequestFault) in
            try decide(
                situation,
                attaching: key,
                to: order,
                overrulesToken: overrulesToken,
                ownToken: AccountToken.init(ofCustomer:),
                terms: app.terms,
                at: now
            )
        }
        return self.order(order, after: result, in: situation)
    }

    /// Notes that the shop has delivered.
    package static func acknowledge(
        _ key: TransactionKey,
        fence: Int64,
        at now: Timestamp,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> Result<Fulfilment, RequestFault> {
        let situation = try transaction.situation(of: [key], AppTerms())
        let result = try write(in: transaction) { () throws(RequestFault) in
            try decide(situation, acknowledging: key, fence: fence, at: now)
        }
        return result.flatMap { decision in
            let row = decision.fulfilments.first?.row ?? situation.fulfilment(of: key)
            return row.map { .success($0) } ?? .failure(.unknown)
        }
    }

    /// Notes that the shop was told of deliveries, or could not be, or acknowledged them by its answer: one situation, and
    /// a decision for each.
    static func note(
        _ told: [ToldDelivery],
        at now: Timestamp,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) {
        let events = try noted(told, at: now, in: transaction)
        // Last: from here to the commit nobody else adds to the feed.
        if !events.isEmpty { try transaction.append(EventRows.rows(events)) }
    }

    /// Notes it.
    ///
    /// - Returns: what is to be told of it, last in the write.
    static func noted(
        _ told: [ToldDelivery],
        at now: Timestamp,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> [LedgerEvent] {
        let told = try withoutAwaited(told, in: transaction)
        guard !told.isEmpty else { return [] }
        var situation = try transaction.situation(of: told.map(\.key), AppTerms())
        var events: [LedgerEvent] = []
        for told in told {
            let decision = told.decision(in: situation, at: now)
            guard !decision.isEmpty else { continue }
            try transaction.apply(decision, evidence: nil)
            situation.apply(decision)
            events += decision.events
        }
        return events
    }

    /// Gives up what a deleted endpoint was still to be sent, and notes what by that reaches the shop no more.
    ///
    /// - Returns: how many; fewer than the limit when none are left.
    package static func giveUp(
        _ endpoint: WebhookEndpointID,
        limit: Int,
        at now: Timestamp,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> Int {
        let buried = try transaction.buryDeliveries(
            endpoint: endpoint,
            because: DeliveryOutcome.deletedReason,
            at: now,
            limit: limit
        )
        try note(buried.compactMap { ToldDelivery($0.event, at: $0.cursor, .failed) }, at: now, in: transaction)
        return buried.count
    }

    /// Without what one endpoint gave up and another is still to be sent: the shop may hear of it yet. Of two nodes that give
    /// up the last two in the same instant neither may see the other's, which leaves it pending: too little is said, nothing
    /// false.
    private static func withoutAwaited(
        _ told: [ToldDelivery],
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> [ToldDelivery] {
        let given = told.filter { $0.progress == .failed }
        var awaited: [AppID: Set<EventCursor>] = [:]
        for app in Set(given.map(\.key.app)) {
            let places = given.filter { $0.key.app == app }.map(\.cursor)
            awaited[app] = try transaction.awaitedEvents(app: app, among: places)
        }
        return told.filter { $0.progress != .failed || awaited[$0.key.app]?.contains($0.cursor) != true }
    }

    /// Makes a chain another customer's; a dry run only says whose it is and would be.
    package static func transfer(
        _ chain: ChainKey,
        to customer: CustomerID,
        overrulesToken: Bool = false,
        isDryRun: Bool,
        at now: Timestamp,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> Result<Owner, RequestFault> {
        var inquiry = Inquiry()
        inquiry.chains = [chain]
        var situation = Situation()
        try transaction.answer(inquiry, in: &situation)
        inquiry.chains = []
        let waiting = situation.fulfilments(of: chain).values.filter { $0.state == .waiting }.map(\.transaction)
        for recorded in try transaction.transactions(waiting) { situation.note(recorded) }
        for customer in [situation.owner(of: chain)?.customer, customer].compactMap(\.self) {
            inquiry.customers.insert(StreamKey(app: chain.app, realm: chain.realm, customer: customer))
        }
        if let signed = situation.signedToken(of: chain) {
            inquiry.tokens.insert(TokenKey(app: chain.app, token: signed.token))
        }
        try transaction.answer(inquiry, in: &situation)
        let known = situation
        let result = try write(in: transaction, isDryRun: isDryRun) { () throws(RequestFault) in
            try decide(
                known,
                transferring: chain,
                to: customer,
                overrulesToken: overrulesToken,
                ownToken: AccountToken.init(ofCustomer:),
                at: now
            )
        }
        return result.flatMap { decision in decision.owners.first.map { .success($0.row) } ?? .failure(.unknown) }
    }

    /// The most by which a balance changes at once: far above any, far below what would leave the range of numbers.
    package static let amountMax: Int64 = 1_000_000_000_000_000

    /// Changes a balance.
    package static func adjust(
        _ wallet: WalletKey,
        by amount: Int64,
        cause: PostingCause,
        for app: AppPolicy,
        at now: Timestamp,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> Result<Wallet, RequestFault> {
        var inquiry = Inquiry()
        inquiry.wallets = [wallet]
        inquiry.customers = [StreamKey(app: wallet.app, realm: wallet.realm, customer: wallet.customer)]
        var situation = Situation()
        try transaction.answer(inquiry, in: &situation)
        let known = situation
        let result = try write(in: transaction) { () throws(RequestFault) in
            try decide(known, adjusting: wallet, by: amount, cause: cause, terms: app.terms, at: now)
        }
        return result.map { decision in decision.wallets.first ?? known.wallet(wallet) }
    }

    /// Gives a customer an entitlement without a purchase, or changes until when she has it; `nil` is for ever.
    package static func grant(
        _ key: GrantedEntitlementKey,
        until end: Timestamp?,
        because motive: Motive,
        for app: AppPolicy,
        at now: Timestamp,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> Result<GrantedEntitlement, RequestFault> {
        try change(key, in: transaction) { situation throws(RequestFault) in
            try decide(situation, granting: key, until: end, because: motive, terms: app.terms, at: now)
        }
    }

    /// Ends what was granted by hand.
    package static func revoke(
        _ key: GrantedEntitlementKey,
        because motive: Motive,
        at now: Timestamp,
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> Result<GrantedEntitlement, RequestFault> {
        try change(key, in: transaction) { situation throws(RequestFault) in
            try decide(situation, revoking: key, because: motive, at: now)
        }
    }

    private static func change(
        _ key: GrantedEntitlementKey,
        in transaction: any StoreTransaction,
        _ body: (Situation) throws(RequestFault) -> Decision
    ) throws(StoreFailure) -> Result<GrantedEntitlement, RequestFault> {
        var inquiry = Inquiry()
        inquiry.grantedEntitlements = [key]
        inquiry.customers = [key.stream]
        var situation = Situation()
        try transaction.answer(inquiry, in: &situation)
        let known = situation
        let result = try write(in: transaction) { () throws(RequestFault) in try body(known) }
        return result.flatMap { decision in
            let row = decision.grantedEntitlements.first?.row ?? known.grantedEntitlement(key)
            return row.map { .success($0) } ?? .failure(.unknown)
        }
    }

    private static func write(
        in transaction: any StoreTransaction,
        isDryRun: Bool = false,
        _ body: () throws(RequestFault) -> Decision
    ) throws(StoreFailure) -> Result<Decision, RequestFault> {
        let decision: Decision
        do throws(RequestFault) { decision = try body() } catch { return .failure(error) }
        if !isDryRun { try apply(decision, in: transaction) }
        return .success(decision)
    }

    /// Writes a decision, and tells of it: the last verb of its write.
    static func apply(_ decision: Decision, in transaction: any StoreTransaction) throws(StoreFailure) {
        guard !decision.isEmpty else { return }
        try transaction.apply(decision, evidence: nil)
        if !decision.events.isEmpty { try transaction.append(EventRows.rows(decision.events)) }
    }

    /// What is known around orders that are known.
    private static func situation(
        of keys: [OrderKey],
        in transaction: any StoreTransaction
    ) throws(StoreFailure) -> Situation {
        var situation = Situation()
        var inquiry = Inquiry()
        inquiry.orders = Set(keys)
        try transaction.answer(inquiry, in: &situation)
        inquiry.customers = Set(keys.compactMap { situation.order($0).map(StreamKey.unpaid) })
        try transaction.answer(inquiry, in: &situation)
        return situation
    }

    private static func order(
        _ key: OrderKey,
        after result: Result<Decision, RequestFault>,
        in situation: Situation
    ) -> Result<Order, RequestFault> {
        result.flatMap { decision in
            let row = decision.orders.first { $0.row.key == key }?.row ?? situation.order(key)
            return row.map { .success($0) } ?? .failure(.unknown)
        }
    }
}
