// What a recorded transaction gives, and to whom.
extension Draft {
    /// Apple's word for how a product is sold, or the catalogue's.
    func kind(of transaction: Transaction) -> ProductKind? {
        transaction.kind ?? terms.products?[transaction.product]?.kind
    }

    mutating func consider(
        _ recorded: RecordedTransaction,
        _ before: Fulfilment?,
        _ naming: Naming
    ) -> Fulfilment {
        var fulfilment = before ?? Fulfilment(of: recorded, at: now)
        // Whoever shows it first may have a poorer copy.
        fulfilment.accountToken = recorded.transaction.accountToken ?? fulfilment.accountToken
        if let closed = booksClosed(over: recorded, naming, isKnown: before != nil) {
            (fulfilment.isImported, fulfilment.booksClosedAt) = (true, closed)
        }
        // Whose it is says its own row.
        fulfilment.customer = naming.leavesAlone(recorded) ? nil : owner(of: chain(of: recorded))?.customer
        let heldThere = heldBack(recorded, before, fulfilment.customer, naming)
        noteExport(&fulfilment, after: before, naming)
        let (isNobodys, chain) = (fulfilment.customer == nil, fulfilment.chain)
        fulfilment.isOfHistory = isNobodys && isToldByHistoryAlone(recorded, before, in: chain, naming)
        // Beforehand: as an argument, which changes the draft, it had the whole of it copied for the call.
        let isCopy = isFamilyCopy(recorded, before)
        let judgement =
            heldThere.map { .leave($0.state, $0.reason) } ?? judge(recorded, fulfilment, naming, isFamilyCopy: isCopy)
        switch judgement {
        case .grant(let customer, let unit, let goods, let payment):
            let granted = grant(fulfilment, recorded, to: customer, unit, goods, payment)
            // Of what was refunded in part before we heard of it, the rest is the customer's.
            let revocation = revocation(of: recorded)
            guard revocation != nil || recorded.isUpgraded else {
                if let before, wasTakenBackInBooks(before, naming) { return tellRestored(granted, recorded) }
                return tellSince(granted, after: before, recorded, naming)
            }
            let isTold = !granted.isImported || naming.isUntold(granted, revocation)
            return tellSince(follow(granted, recorded, isTold: isTold), after: before, recorded, naming)
        case .leave(let state, let reason):
            let isKnown =
                before.map {
                    $0.customer == fulfilment.customer && $0.isImported == fulfilment.isImported
                        && $0.importedFence == fulfilment.importedFence
                        && (naming.exported == nil || $0.booksClosedAt == fulfilment.booksClosedAt)
                        && $0.isOfHistory == fulfilment.isOfHistory && $0.isNoNews(state, reason)
                } ?? false
            let wasReturned = (fulfilment.reversedAt, fulfilment.reversed)
            (fulfilment.state, fulfilment.reason) = (state, isKnown ? before?.reason : reason)
            fulfilment.note(returned: returned(by: recorded.transaction))
            if let before, isKnown, wasReturned == (fulfilment.reversedAt, fulfilment.reversed),
                before.accountToken == fulfilment.accountToken
            {
                return before
            }
            // What came by a move and still waits stays so: see ``Owner/came(with:)``.
            fulfilment = put(fulfilment, decidedAt: naming.placedAfter == nil ? nil : before?.decidedAt)
            // Somebody's, too: who is known by the token that Apple signed may come later.
            if state == .waiting { leaveVacant(fulfilment) }
            meetOrders(of: fulfilment)
            // It tells of the other numbers of its chain, too: of what may be restored, and of whose they are.
            if reason == .revoked || reason == .familyShared { leaveVacant(fulfilment.chain) }
            if !isKnown, !fulfilment.isImported { tellThatNothingIsGiven(fulfilment, recorded, naming) }
            return fulfilment
        }
    }

    /// Whether a refund stood in another system's books already: that system has taken back what it had delivered. What books say
    /// later of its reversal they have seen to themselves. Of what was refunded since, while it waited, nobody has heard.
    private func wasTakenBackInBooks(_ before: Fulfilment, _ naming: Naming) -> Bool {
        guard before.isImported, before.state == .withheld, before.reason == .revoked, naming.source != .imported,
            let end = before.reversedAt, let closed = before.booksClosedAt
        else { return false }
        return end <= closed
    }

    /// Tells that Apple has reversed such a refund. That it was imported takes the first fence.
    private mutating func tellRestored(_ granted: Fulfilment, _ recorded: RecordedTransaction) -> Fulfilment {
        var restored = granted
        restored.fence += 1
        restored.delivery = .pending
        restored = put(restored)
        let signed = recorded.transaction.signedAt
        tell(.deliveryRestored, stream(of: restored), happenedAt: signed, .fulfilment(restored, recorded))
        return restored
    }

    /// Whether only Apple's history has told of what is nobody's: as the first word of it, or as it was.
    private func isToldByHistoryAlone(
        _ recorded: RecordedTransaction,
        _ before: Fulfilment?,
        in chain: ChainKey,
        _ naming: Naming
    ) -> Bool {
        let isFirst = before == nil && naming.source == .history
        let stays = !naming.isOfPurchase && isOfHistory(recorded.transaction, in: chain)
        return isFirst || stays || naming.wasOfHistory(recorded, before)
    }

    private mutating func tellThatNothingIsGiven(
        _ fulfilment: Fulfilment,
        _ recorded: RecordedTransaction,
        _ naming: Naming
    ) {
        guard naming.source != .history, !naming.wasHeldBack(recorded) else { return }
        tell(
            fulfilment.state == .waiting ? .purchaseWaiting : .purchaseWithheld,
            stream(of: fulfilment),
            happenedAt: recorded.transaction.purchasedAt,
            .fulfilment(fulfilment, recorded)
        )
    }

    /// When the books were closed in which a transaction stands, so that another system has delivered it; `nil` if it stands in
    /// none.
    ///
    /// Of a subscription out of them a period that is heard of later was that system's, too, if it was bought before they were
    /// handed in: an export is older than its import. Of one that Apple took back the shop hears.
    private func booksClosed(over recorded: RecordedTransaction, _ naming: Naming, isKnown: Bool) -> Timestamp? {
        if naming.isOfBooks(recorded) { return naming.booksEnd(for: recorded) ?? now }
        guard !isKnown, naming.source != .imported, !naming.isUndelivered, recorded.order == nil,
            recorded.isSubscriptionPeriod, recorded.transaction.takenBack == nil,
            let closed = known.booksClosed(of: chain(of: recorded)), recorded.purchasedAt < closed,
            naming.presentedAt.map({ closed <= $0 }) ?? true
        else { return nil }
        return closed
    }

    private enum Judgement {
        case grant(CustomerID, GrantUnit, [GrantedGoods], (Order, OrderMatch)?)
        case leave(FulfilmentState, FulfilmentReason)
    }

    /// Decides whether a transaction gives anything.
    private func judge(
        _ recorded: RecordedTransaction,
        _ fulfilment: Fulfilment,
        _ naming: Naming,
        isFamilyCopy: Bool
    ) -> Judgement {
        let isRevoked = revocation(of: recorded)?.share == Fulfilment.whole
        let isOver = isRevoked || recorded.isUpgraded
        let over = Judgement.leave(.withheld, isRevoked ? .revoked : .upgraded)
        guard !isOver || fulfilment.importedFence > 0 else { return over }
        let judgement = judgeRunning(recorded, fulfilment, naming, isFamilyCopy: isFamilyCopy)
        // What a ledger of ours had given before that goes on as given: the shop has it by its fence.
        if isOver, case .leave = judgement { return over }
        return judgement
    }

    /// The same of what Apple took back by nothing; the order of the questions is part of the answer.
    private func judgeRunning(
        _ recorded: RecordedTransaction,
        _ fulfilment: Fulfilment,
        _ naming: Naming,
        isFamilyCopy: Bool
    ) -> Judgement {
        let transaction = recorded.transaction
        if fulfilment.isOfHistory { return .leave(.waiting, .fromHistory) }
        let product = terms.products?[transaction.product]
        if terms.products != nil, product == nil { return .leave(.waiting, .unknownProduct) }
        if let product, let kind = transaction.kind, kind != product.kind { return .leave(.waiting, .kindContradicts) }
        if isFamilyCopy, product?.isFamilyShared != true { return .leave(.withheld, .familyShared) }
        guard let customer = fulfilment.customer else { return .leave(.waiting, .noCustomer) }
        guard delivers(from: recorded.realm, to: customer) else { return .leave(.waiting, .sandbox) }
        guard let unit = freeUnit(recorded) else { return .leave(.withheld, .alreadyGranted) }
        guard var goods = goods(of: transaction), hasRoom(for: goods, recorded, of: customer) else {
            return .leave(.waiting, .outOfRange)
        }
        if unit.isRepetition, transaction.ownership == .familyShared {
            // Leaving a family and coming back costs nothing: it must not be a way to amounts.
            goods.removeAll { if case .amount = $0 { true } else { false } }
            if goods.isEmpty { return .leave(.withheld, .alreadyGranted) }
        }
        let given = goods.allSatisfy(\.isEntitlement) ? [] : currenciesGiven(beside: recorded)
        if !given.isEmpty {
            // Apple goes on with the period under another number: it was paid once.
            goods.removeAll { if case .amount(let amount) = $0 { given.contains(amount.currency) } else { false } }
            if goods.isEmpty { return .leave(.withheld, .alreadyGranted) }
        }
        // Delivered long ago, it pays no order of today, and tells of its chain also when it is over.
        if fulfilment.isImported { return .grant(customer, unit, goods.filter(\.isEntitlement), nil) }
        let payment = match(recorded, of: customer, naming)
        if payment == nil {
            if terms.needsOrder, !continues(recorded) {
                return .leave(.waiting, naming.isInVain(for: recorded, of: customer) ? .orderContradicts : .noOrder)
            }
            let isLate = fulfilment.reason == .expired || isFamilyCopy && fulfilment.isWithheldAsCopy
            let shownAt = isFamilyCopy && isLate ? nil : naming.presentedAt
            if product?.deliversExpired != true, wasOver(recorded, isLate: isLate, shownAt: shownAt) {
                return .leave(.withheld, .expired)
            }
        }
        return .grant(customer, unit, goods, payment)
    }

    /// Whether a period was over before we heard of it, whoever told us: what is known in time is owed, however long it waits.
    ///
    /// What was withheld as late stays so until its access goes on: earlier versions went by when it was decided about. Nor was
    /// anything owed for a family's copy while its product was for no family.
    private func wasOver(_ recorded: RecordedTransaction, isLate: Bool, shownAt: Timestamp?) -> Bool {
        guard kind(of: recorded.transaction) != .nonRenewing, let end = accessEnd(of: recorded) else { return false }
        // A clock that was ahead makes nothing late.
        var heardAt = isLate ? now : min(recorded.recordedAt, now)
        // Its proof may have waited for Apple since. What was bought after that is only told of with it.
        if let shownAt, recorded.purchasedAt <= shownAt { heardAt = min(heardAt, shownAt) }
        return end <= heardAt
    }

    /// Whether what was bought in a store is delivered to a customer: what is from the sandbox, or from Xcode, costs nothing.
    func delivers(from realm: Realm, to customer: CustomerID) -> Bool {
        realm.environment == .production || terms.sandbox.delivers(to: customer, at: now)
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

    /// Whether only Apple's history has told of it or, of what is bought for good, of another number of it.
    func isOfHistory(_ transaction: Transaction, in chain: ChainKey) -> Bool {
        let rows = fulfilments(of: chain)
        if let row = rows[transaction.id] { return row.isOfHistory }
        return mayBeRestored(transaction)
            && rows.values.contains { $0.isOfHistory && $0.product == transaction.product }
    }

    /// Whether an earlier transaction of the chain was given: then a renewal or a restore needs no order of its own.
    func continues(_ recorded: RecordedTransaction) -> Bool {
        let chain = chain(of: recorded)
        guard kind(of: recorded.transaction) != .consumable else { return false }
        return hasGrantsBefore(chain)
    }

    /// Whether anything was given in a chain, or in those of the same customer's that it goes on from: see ``ownPredecessors(of:)``.
    func hasGrantsBefore(_ chain: ChainKey) -> Bool {
        hasGrants(chain) || ownPredecessors(of: chain).contains { hasGrants($0) }
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
        (granted.reversed, granted.reversedAt) = (0, nil)
        granted.goods = goods
        granted.delivery = granted.isImported ? .acknowledged : .pending
        granted.fence = max(granted.fence + 1, granted.importedFence)
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
        granted = put(granted)
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

    /// Has what was given without an order pay one. Nothing is given by that, and nothing is to be delivered anew: the fence
    /// stays, and no delivery is told of. The order is as far as what pays it.
    mutating func pay(
        _ order: Order,
        withGiven before: Fulfilment,
        _ recorded: RecordedTransaction,
        _ match: OrderMatch
    ) {
        var given = before
        (given.order, given.match) = (order.id, match)
        given = put(given)
        pay(order, with: recorded, match)
        // The same is told of a part that was taken back before it was given.
        if given.isReversed { followOrder(of: given, at: given.reversedAt ?? now) }
        if given.delivery == .acknowledged { noteDelivered(given) }
    }

    /// Notes with the order that something pays, if there is one, that the shop has delivered it.
    mutating func noteDelivered(_ fulfilment: Fulfilment) {
        guard let id = fulfilment.order, var order = order(OrderKey(app: fulfilment.transaction.app, id: id)),
            order.state == .paid
        else { return }
        order.change(to: .delivered, at: now)
        put(order)
        tell(.orderDelivered, stream(of: fulfilment), happenedAt: now, .order(order))
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
    var isEntitlement: Bool {
        if case .entitlement = self { true } else { false }
    }
}
