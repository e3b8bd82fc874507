// Whose a chain is: the first who presents it owns it, unless Apple signed a token that names somebody else.
extension Draft {
    /// Settles whose a chain is, now that somebody presents a transaction of it.
    ///
    /// - Returns: the owner; `nil` while nobody is known.
    mutating func claim(
        _ chain: ChainKey,
        with transaction: Transaction,
        _ before: RecordedTransaction?,
        _ recording: Recording
    ) -> CustomerID? {
        let named = newestToken(of: transaction, after: before?.transaction)
        if let customer = recording.customer, let own = recording.customerToken,
            own == named || own == signedToken(of: chain)
        {
            registerOwn(TokenKey(app: recording.app, token: own), of: customer)
        }
        // A copy may be without a token, and so may a renewal; but what was bought anew may be another's.
        let isAnew = named == nil && isBoughtAnew(transaction, in: chain, recording)
        let token = isAnew ? nil : signedToken(of: chain)
        let signed = customer(of: token, in: recording.app)
        guard let owner = owner(of: chain) ?? inherit(chain, signedFor: signed) else {
            // Apple's history names what somebody bought, not what she still waits for: that is for her to present.
            // What became of it is no reason to have it, either.
            let staysOfHistory = recording.isFollowUp && isOfHistory(transaction, in: chain)
            let wasOfHistory = recording.exported.map { $0.transaction == transaction.id && $0.outcome.isOfHistory }
            guard recording.source != .history, !staysOfHistory, wasOfHistory != true else { return nil }
            guard let customer = signed ?? recording.customer else { return nil }
            put(Owner(chain: chain, customer: customer, since: now, isSettled: isAnew))
            return customer
        }
        // Old books take nothing away from anybody.
        guard recording.source == .presented else { return owner.customer }
        // What was bought anew goes to whom it was signed for, whosever it was before.
        if let signed, signed != owner.customer,
            isUnsettled(owner, against: token)
                || token == named && isBoughtAnew(transaction, in: chain, recording)
        {
            // But what the sandbox gave, and runs still, or would if a refund was reversed, comes to nobody to whom it does not
            // deliver.
            guard delivers(from: chain.realm, to: signed) || !mayBeInForce(chain) else { return owner.customer }
            return transfer(owner, to: signed)
        }
        guard let presenter = recording.customer, !owner.mayUse(presenter) else { return owner.customer }
        // What Apple signed is never overruled by who holds a copy of the proof.
        if let signed, signed != presenter { return owner.customer }
        // It is used up by its first owner: a copy of its proof gives nobody else anything.
        let isConsumable = [transaction, before?.transaction].contains { $0.flatMap(kind(of:)) == .consumable }
        return isConsumable
            ? owner.customer : presented(transaction, of: owner, by: presenter, recording, isAnew: isAnew)
    }

    /// Whether a chain is a customer's who only names it: she has it by now, or Apple signed it for her.
    mutating func mayName(
        _ chain: ChainKey,
        with transaction: Transaction,
        _ before: RecordedTransaction?,
        _ recording: Recording
    ) -> Bool {
        guard let customer = recording.customer else { return false }
        if let owner = owner(of: chain), owner.mayUse(customer) { return true }
        let isAnew =
            newestToken(of: transaction, after: before?.transaction) == nil
            && isBoughtAnew(transaction, in: chain, recording)
        guard !isAnew, let token = signedToken(of: chain) else { return false }
        return token == recording.customerToken || self.customer(of: token, in: recording.app) == customer
    }

    /// Whether a chain still goes to whom Apple signed it: who came first has it until it is known who that is, unless
    /// something was given to him, a person has said so, or it is his own name that Apple signed.
    func isUnsettled(_ owner: Owner, against token: AccountToken?) -> Bool {
        isOpen(owner) && (token == nil || ownToken(owner.customer) != token)
    }

    private func isOpen(_ owner: Owner) -> Bool { !owner.isSettled && !hasGrants(owner.chain) }

    /// Who is known by an account token that Apple signed.
    private func customer(of token: AccountToken?, in app: AppID) -> CustomerID? {
        token.flatMap { customer(of: TokenKey(app: app, token: $0)) }
    }

    private mutating func presented(
        _ transaction: Transaction,
        of owner: Owner,
        by presenter: CustomerID,
        _ recording: Recording,
        isAnew: Bool
    ) -> CustomerID {
        // Whoever shows a copy has no more by it than who bought it: what costs nothing is for those alone to whom the app
        // delivers it, also where it was given to one of them, or is to be given yet.
        guard delivers(from: owner.chain.realm, to: presenter) else { return owner.customer }
        switch binding(of: transaction, in: owner.chain, recording) {
        case .refuse: return owner.customer
        case .transfer: return transfer(owner, to: presenter, isSettled: isAnew)
        case .transferIfInactive:
            let isHeld = isInForce(owner.chain) || !productsThatWait(in: owner.chain).isEmpty
            return isHeld || goesOnInForce(owner.chain) || goesOn(owner.chain, by: recording)
                ? owner.customer : transfer(owner, to: presenter, isSettled: isAnew)
        case .share:
            guard owner.sharers.count < Owner.sharersMax else { return owner.customer }
            var shared = owner
            shared.sharers.append(presenter)
            put(shared)
            tellBoth(.customerShared, owner.chain, from: owner.customer, to: presenter)
            return owner.customer
        }
    }

    /// By which rule a chain changes hands when somebody else shows a transaction of it: of the rules of all products that are
    /// shown of it, or in force in it, that which takes the least away. A chain moves as a whole.
    private mutating func binding(
        of transaction: Transaction,
        in chain: ChainKey,
        _ recording: Recording
    ) -> BindingRule {
        let shown = terms.binding(of: transaction.product)
        // Nothing takes less.
        return shown == .refuse ? shown : binding(of: chain, shown, recording)
    }

    /// Nothing of a chain changes it while a proof is recorded: a receipt may show many periods of another's.
    private mutating func binding(of chain: ChainKey, _ first: BindingRule, _ recording: Recording) -> BindingRule {
        if let found = bindings[chain] { return found }
        let given = productsInForce(fulfilments(of: chain).values, subscription(of: chain), at: now)
        let products = productsGoingOn(in: chain, by: recording).union(given).union(productsThatWait(in: chain))
        let found = products.union(productsShown(of: chain, in: recording)).map { terms.binding(of: $0) }
            .reduce(first) { $1.takesLess(than: $0) ? $1 : $0 }
        bindings.set(found, for: chain)
        return found
    }

    private func productsShown(of chain: ChainKey, in recording: Recording) -> Set<ProductID> {
        var found: Set<ProductID> = []
        for (transaction, key) in zip(recording.transactions, recording.keys)
        where !found.contains(transaction.product) && known.chain(of: transaction, key, in: recording) == chain {
            found.insert(transaction.product)
        }
        return found
    }

    /// Makes a chain another customer's, with what was not given in it. What was credited to the owner's balances stays there.
    @discardableResult
    mutating func transfer(_ owner: Owner, to customer: CustomerID, isSettled: Bool = false) -> CustomerID {
        var moved = owner
        moved.isSettled = isSettled
        moved.previous = owner.customer
        moved.customer = customer
        moved.sharers.removeAll { $0 == customer }
        moved.since = now
        put(moved)
        tellBoth(.customerTransferred, owner.chain, from: owner.customer, to: customer)
        let notGiven = fulfilments(of: owner.chain).values.filter { $0.unit == nil && $0.customer == owner.customer }
        for var row in notGiven.sorted(by: { $0.transaction.id < $1.transaction.id }) {
            row.customer = customer
            put(row)
            guard row.state == .waiting, !row.isImported else { continue }
            let recorded = recorded(row.transaction)
            tell(.purchaseWaiting, stream(of: row), happenedAt: row.purchasedAt, .fulfilment(row, recorded))
        }
        return customer
    }

    private mutating func tellBoth(_ type: EventType, _ chain: ChainKey, from old: CustomerID, to new: CustomerID) {
        for customer in [old, new] {
            let stream = StreamKey(app: chain.app, realm: chain.realm, customer: customer)
            tell(type, stream, happenedAt: now, .transfer(chain: chain, from: old, to: new))
        }
    }

    /// What waits in a chain, whatever for. What costs nothing, and is not delivered to whose it is, is waited for by nobody.
    func awaited(in chain: ChainKey) -> [Fulfilment] {
        guard let owner = owner(of: chain), delivers(from: chain.realm, to: owner.customer) else { return [] }
        return fulfilments(of: chain).values.filter { $0.state == .waiting }
    }

    /// The products of what was paid for in a chain, runs by what Apple signed, and was not given only as it waits: it is its
    /// owner's no less. What has no end runs until it is taken back.
    ///
    /// It goes by what was known before the proof, in whatever order that tells of it, and is read once.
    private mutating func productsThatWait(in chain: ChainKey) -> Set<ProductID> {
        if let found = productsWaiting[chain] { return found }
        var (ends, endless): ([TransactionID: Timestamp], Set<ProductID>) = ([:], [])
        for row in awaited(in: chain) {
            guard let recorded = known[row.transaction], !recorded.isUpgraded, revocation(of: recorded) == nil else {
                continue
            }
            if let end = end(of: recorded.transaction) {
                ends[recorded.id] = end
            } else if !recorded.isSubscriptionPeriod {
                endless.insert(row.product)
            }
        }
        let running = productsAwaited(ends, fulfilments(of: chain).values, subscription(of: chain), at: now)
        let found = endless.union(running)
        productsWaiting.set(found, for: chain)
        return found
    }

    /// Whether the newest period of a chain runs and waits, by what is kept of the subscription: of a chain that another one
    /// goes on from its transactions may not have been looked up.
    func isNewestAwaited(in chain: ChainKey) -> Bool {
        guard let subscription = subscription(of: chain), let current = subscription.current,
            awaited(in: chain).contains(where: { $0.transaction.id == current && !$0.tellsOfReturn })
        else { return false }
        let now = now
        return [subscription.expiresAt, subscription.graceEndsAt].compactMap(\.self).contains { now < $0 }
    }

    /// Whether anything that the chain gave may be used now, whatever that is: some shops have no entitlements, and some
    /// subscriptions give only amounts.
    func isInForce(_ chain: ChainKey) -> Bool {
        let given = fulfilments(of: chain).values.filter(\.isInForce)
        guard !given.isEmpty else { return false }
        guard let subscription = subscription(of: chain) else {
            return !entitlements(given, [], at: now).isEmpty
                || given.contains { !$0.goods.contains(where: \.isEntitlement) }
        }
        // What was taken back still ends what it took the place of.
        if !entitlements(fulfilments(of: chain).values, [subscription], at: now).isEmpty { return true }
        // What was taken back runs no more, whenever it would have ended.
        if let current = subscription.current, fulfilments(of: chain)[current]?.isTakenBack == true { return false }
        let ends = [subscription.expiresAt, subscription.graceEndsAt].compactMap(\.self)
        return ends.contains { now < $0 }
    }

    /// The same, and whether it gives access again should Apple reverse a refund.
    private func mayBeInForce(_ chain: ChainKey) -> Bool {
        let now = now
        return isInForce(chain)
            || fulfilments(of: chain).values.contains { row in
                row.isReversed
                    && row.goods.contains { goods in
                        guard case .entitlement(_, let until) = goods else { return false }
                        return until.map { now < $0 } ?? true
                    }
            }
    }
}

extension Owner {
    /// Somebody who gives a proof away gives it to more than a family.
    static let sharersMax = 16
}
