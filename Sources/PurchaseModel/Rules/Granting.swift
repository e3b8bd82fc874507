// What a recorded transaction gives, and to whom.
extension Draft {
    /// Settles every transaction of a proof.
    mutating func fulfil(_ recording: Recording) {
        let naming = Naming(
            order: recording.order,
            customerToken: recording.customerToken,
            source: recording.source,
            chains: claimedChains(of: recording)
        )
        let recorded = decision.outcomes.map(\.recorded)
        let known = known
        var given = settle(recorded) { naming.of(known.chain(of: $0)) }
        var reversed: Set<ChainKey> = []
        for fulfilment in given where fulfilment.state == .reversed && reversed.insert(fulfilment.chain).inserted {
            reconsiderRepetitions(in: fulfilment.chain, naming)
        }
        var seen: Set<ChainKey> = []
        for chain in recorded.map({ chain(of: $0) }) where seen.insert(chain).inserted {
            settleRest(of: chain, naming.of(chain))
        }
        settleInGrace(naming)
        vouch()
        for place in recorded.indices {
            // The rest of its chain may have let it be given.
            if given[place].unit == nil { given[place] = fulfilment(recorded[place]) ?? given[place] }
            guard decision.outcomes[place].standing != .ownedByAnother else { continue }
            edit { $0.outcomes[place].fulfilment = given[place] }
        }
    }

    /// Writes what is given for each transaction of which something new is known, also where that changes nothing there: so
    /// that whoever gives something for what was known before is told that he did not see it.
    private mutating func vouch() {
        for change in decision.changes {
            guard let before = known.fulfilment(of: change.recorded.key), fulfilment(change.recorded) == before else {
                continue
            }
            put(before)
        }
    }

    /// Settles some transactions, and last those that lack nothing but an order: what is given for the others may let them
    /// go on without one.
    mutating func settle(_ all: [RecordedTransaction], naming: (RecordedTransaction) -> Naming) -> [Fulfilment] {
        guard terms.needsOrder else { return all.map { settle($0, naming($0)) } }
        var given = all.map { lacksOrder($0, naming($0)) ? nil : settle($0, naming($0)) }
        for place in all.indices where given[place] == nil { given[place] = settle(all[place], naming(all[place])) }
        return given.compactMap(\.self)
    }

    private func lacksOrder(_ recorded: RecordedTransaction, _ naming: Naming) -> Bool {
        guard fulfilment(recorded)?.unit == nil, !continues(recorded),
            let customer = owner(of: chain(of: recorded))?.customer
        else { return false }
        return match(recorded, of: customer, naming) == nil
    }

    /// Settles the rest of a chain of which something was told: whoever has one transaction of it has all of it, also what
    /// Apple told of before anybody was known, and what waited for an order goes on without one when anything was given,
    /// whichever of them came first.
    mutating func settleRest(of chain: ChainKey, _ naming: Naming) {
        guard owner(of: chain) != nil else { return }
        let ownerless = waiting(in: chain, \.isOwnerless)
        if !ownerless.isEmpty { _ = settle(ownerless) { naming.named(by: $0) } }
        guard terms.needsOrder, hasGrants(chain) else { return }
        for recorded in waiting(in: chain, \.lacksOrder) {
            // It was presented before, and not out of the books that are told of now.
            settle(recorded, Naming(order: recorded.order, customerToken: naming.customerToken))
        }
    }

    /// What waits in a chain, as far as it was looked up, by its name.
    private func waiting(in chain: ChainKey, _ isAsked: (Fulfilment) -> Bool) -> [RecordedTransaction] {
        fulfilments(of: chain).values.filter(isAsked).compactMap { recorded($0.transaction) }.sorted { $0.id < $1.id }
    }

    /// What was over when we first heard of it goes on when we hear of the grace.
    private mutating func settleInGrace(_ naming: Naming) {
        for period in folded.compactMap(\.period) {
            guard fulfilment(period)?.reason == .expired, let end = accessEnd(of: period), now < end else { continue }
            settle(period, naming.of(chain(of: period)).named(by: period))
        }
    }

    /// What came before we heard of a refund, and seemed to repeat what was refunded, may have been bought anew.
    private mutating func reconsiderRepetitions(in chain: ChainKey, _ naming: Naming) {
        let repetitions = fulfilments(of: chain).values.filter { $0.reason == .alreadyGranted }
        for repetition in repetitions.sorted(by: { $0.transaction.id < $1.transaction.id }) {
            guard let recorded = recorded(repetition.transaction) else { continue }
            settle(recorded, naming.of(chain).named(by: recorded))
        }
    }

    /// Brings what a transaction gives up to date with what is known of it.
    @discardableResult
    mutating func settle(_ recorded: RecordedTransaction, _ naming: Naming) -> Fulfilment {
        let before = fulfilment(recorded)
        switch before?.state {
        case .granted, .reversed:
            guard let before else { preconditionFailure("it has a state") }
            return follow(before, recorded)
        case .waiting, .withheld, nil:
            return consider(recorded, before, naming)
        }
    }

    /// Apple's word for how a product is sold, or the catalogue's.
    func kind(of transaction: Transaction) -> ProductKind? {
        transaction.kind ?? terms.products?[transaction.product]?.kind
    }

    private mutating func consider(
        _ recorded: RecordedTransaction,
        _ before: Fulfilment?,
        _ naming: Naming
    ) -> Fulfilment {
        var fulfilment = before ?? Fulfilment(of: recorded, at: now)
        if naming.source == .imported { fulfilment.isImported = true }
        fulfilment.customer = owner(of: chain(of: recorded))?.customer
        switch judge(recorded, fulfilment, naming) {
        case .grant(let customer, let unit, let goods, let payment):
            let granted = grant(fulfilment, recorded, to: customer, unit, goods, payment)
            // Of what was refunded in part before we heard of it, the rest is the customer's.
            return recorded.isRevoked ? follow(granted, recorded, isTold: !granted.isImported) : granted
        case .leave(let state, let reason):
            if let before, before.customer == fulfilment.customer, before.isImported == fulfilment.isImported,
                before.isNoNews(state, reason)
            {
                return before
            }
            (fulfilment.state, fulfilment.reason) = (state, reason)
            put(fulfilment)
            if fulfilment.isOwnerless { leaveVacant(fulfilment) }
            guard !fulfilment.isImported, naming.source != .history else { return fulfilment }
            let type: EventType = state == .waiting ? .purchaseWaiting : .purchaseWithheld
            tell(
                type,
                stream(of: fulfilment),
                happenedAt: recorded.transaction.purchasedAt,
                .fulfilment(fulfilment, recorded)
            )
            return fulfilment
        }
    }

    private enum Judgement {
        case grant(CustomerID, GrantUnit, [GrantedGoods], (Order, OrderMatch)?)
        case leave(FulfilmentState, FulfilmentReason)
    }

    /// Decides whether a transaction gives anything; the order of the questions is part of the answer.
    private func judge(_ recorded: RecordedTransaction, _ fulfilment: Fulfilment, _ naming: Naming) -> Judgement {
        let transaction = recorded.transaction
        if transaction.revocation?.share == Fulfilment.whole { return .leave(.withheld, .revoked) }
        if recorded.isUpgraded { return .leave(.withheld, .upgraded) }
        let product = terms.products?[transaction.product]
        if terms.products != nil, product == nil { return .leave(.waiting, .unknownProduct) }
        if let product, let kind = transaction.kind, kind != product.kind { return .leave(.waiting, .kindContradicts) }
        if transaction.ownership == .familyShared, product?.isFamilyShared != true {
            return .leave(.withheld, .familyShared)
        }
        guard let customer = fulfilment.customer else { return .leave(.waiting, .noCustomer) }
        if recorded.realm.environment != .production, !terms.sandbox.delivers(to: customer, at: now) {
            return .leave(.waiting, .sandbox)
        }
        guard let unit = freeUnit(recorded) else { return .leave(.withheld, .alreadyGranted) }
        guard var goods = goods(of: transaction), hasRoom(for: goods, recorded, of: customer) else {
            return .leave(.waiting, .outOfRange)
        }
        if unit.isRepetition, transaction.ownership == .familyShared {
            // Leaving a family and coming back costs nothing: it must not be a way to amounts.
            goods.removeAll { if case .amount = $0 { true } else { false } }
            if goods.isEmpty { return .leave(.withheld, .alreadyGranted) }
        }
        // Delivered long ago, it pays no order of today, and tells of its chain also when it is over.
        if fulfilment.isImported { return .grant(customer, unit, goods.filter(\.isEntitlement), nil) }
        let payment = match(recorded, of: customer, naming)
        if payment == nil {
            if terms.needsOrder, !continues(recorded) {
                return .leave(.waiting, naming.order == nil ? .noOrder : .orderContradicts)
            }
            if let end = accessEnd(of: recorded), end <= now, kind(of: transaction) != .nonRenewing,
                product?.deliversExpired != true
            {
                return .leave(.withheld, .expired)
            }
        }
        return .grant(customer, unit, goods, payment)
    }

    private func hasRoom(for goods: [GrantedGoods], _ recorded: RecordedTransaction, of customer: CustomerID) -> Bool {
        for case .amount(let amount) in goods {
            let key = WalletKey(
                app: recorded.app,
                realm: recorded.realm,
                customer: customer,
                currency: amount.currency
            )
            if wallet(key).balance.addingReportingOverflow(amount.amount).overflow { return false }
        }
        return true
    }

    /// Whether an earlier transaction of the chain was given: then a renewal or a restore needs no order of its own.
    private func continues(_ recorded: RecordedTransaction) -> Bool {
        kind(of: recorded.transaction) != .consumable && hasGrants(chain(of: recorded))
    }

    private mutating func grant(
        _ fulfilment: Fulfilment,
        _ recorded: RecordedTransaction,
        to customer: CustomerID,
        _ unit: GrantUnit,
        _ goods: [GrantedGoods],
        _ payment: (order: Order, match: OrderMatch)?
    ) -> Fulfilment {
        var granted = fulfilment
        (granted.state, granted.reason, granted.unit) = (.granted, nil, unit)
        granted.goods = goods
        granted.delivery = granted.isImported ? .acknowledged : .pending
        granted.fence += 1
        for case .amount(let amount) in goods {
            let wallet = WalletKey(
                app: recorded.app,
                realm: recorded.realm,
                customer: customer,
                currency: amount.currency
            )
            post(amount.amount, in: wallet, from: .issued, to: .balance, cause: .purchase, transaction: recorded.id)
        }
        if let payment {
            granted.order = payment.order.id
            granted.match = payment.match
            pay(payment.order, with: recorded, payment.match)
        }
        put(granted)
        guard !granted.isImported else { return granted }
        tell(
            .deliveryGranted,
            stream(of: granted),
            happenedAt: recorded.transaction.purchasedAt,
            .fulfilment(granted, recorded)
        )
        return granted
    }

    private mutating func pay(_ order: Order, with recorded: RecordedTransaction, _ match: OrderMatch) {
        var paid = order
        paid.payment = Order.Payment(realm: recorded.realm, transaction: recorded.id, match: match)
        paid.change(to: .paid, at: now)
        put(paid)
        tell(
            .orderPaid,
            StreamKey(app: recorded.app, realm: recorded.realm, customer: order.customer),
            happenedAt: recorded.transaction.purchasedAt,
            .order(paid)
        )
    }

    func stream(of fulfilment: Fulfilment) -> StreamKey {
        StreamKey(
            app: fulfilment.transaction.app,
            realm: fulfilment.transaction.realm,
            customer: fulfilment.customer
        )
    }
}

extension Fulfilment {
    /// Whether nothing is left to tell. That an order was named in vain is told once, and not taken back by whoever names
    /// none.
    fileprivate func isNoNews(_ state: FulfilmentState, _ reason: FulfilmentReason) -> Bool {
        self.state == state && (self.reason == reason || self.reason == .orderContradicts && reason == .noOrder)
    }
}

extension GrantedGoods {
    fileprivate var isEntitlement: Bool {
        if case .entitlement = self { true } else { false }
    }
}
