// What was given follows what Apple signs later: refunds, their reversal, other ends.
extension Draft {
    /// Brings what was granted up to date: goods end or go on, amounts are taken back or given again.
    ///
    /// - Parameters:
    ///   - before: what was granted.
    ///   - recorded: as Apple tells of it by now.
    ///   - isNews: false for what was so when it was imported: to whoever delivered it that is no news.
    /// - Returns: how it stands now.
    mutating func follow(
        _ before: Fulfilment,
        _ recorded: RecordedTransaction,
        isTold isNews: Bool = true
    ) -> Fulfilment {
        var after = before
        let isCopy = isGivenToCopy(before, recorded)
        // A copy was never owed.
        let revocation = isCopy ? Revocation(at: recorded.purchasedAt) : revocation(of: recorded)
        after.reason = isCopy ? .familyShared : nil
        after.reversed = revocation?.share ?? 0
        after.reversedAt = revocation?.at
        let given = allGiven(by: before, for: recorded.transaction)
        after.state = before.state(after: revocation, of: recorded.transaction, given: given)
        after.goods = before.goods.map { goods in
            guard case .entitlement(let id, let known) = goods else { return goods }
            // Earlier versions wrote the moment of a refund in place of the end: it is none of what is given again.
            let isUnknown = known != nil && known == before.reversedAt && hasKnownEnd(recorded.transaction)
            let sold = isUnknown ? SoldEnd.unknown : known.map { .at($0) } ?? .never
            return .entitlement(id, until: end(of: recorded, sold: sold, isTaken: revocation != nil))
        }
        let isLonger = Self.differ(after.goodsByNow, before.goodsByNow)
        let isOther = after.reversed != before.reversed || after.state != before.state
        guard isOther || isLonger || after.reason != before.reason else {
            amendOrder(of: before)
            return before
        }
        let isNews = isNews && !before.isOnlyAmended(by: after)
        // Why it was taken back changes nothing of what is to be delivered.
        let isTold = isNews && (isOther || after.reason == before.reason)
        if isTold { after.fence += 1 }
        after.goods = after.goods.map { goods in
            guard case .amount(let amount) = goods else { return goods }
            return .amount(balance(amount, of: after, recorded))
        }
        let (type, moment) = change(from: before, to: after, recorded)
        // What is no news was done by whoever delivered it.
        let there = before.delivery == .compensated ? .acknowledged : before.delivery
        after.delivery = isNews || after.state == .reversed ? delivery(of: after, type, before.delivery) : there
        after = put(after)
        followOrder(of: after, at: moment)
        if isTold { tell(type, stream(of: after), happenedAt: moment, .fulfilment(after, recorded)) }
        return after
    }

    /// Tells how something stands of which the shop has heard from another ledger of ours what an older word of Apple's says.
    ///
    /// - Parameters:
    ///   - fulfilment: as it stands here.
    ///   - recorded: as Apple tells of it by now.
    ///   - fact: the older word.
    /// - Returns: with its next fence; as it was where nothing of it is another by now.
    mutating func tellChange(
        of fulfilment: Fulfilment,
        _ recorded: RecordedTransaction,
        since fact: Transaction
    ) -> Fulfilment {
        var (there, told) = (fulfilment, fulfilment)
        let revocation = fact.takenBack
        (there.reversed, there.reversedAt) = (revocation?.share ?? 0, revocation?.at)
        let given = allGiven(by: fulfilment, for: recorded.transaction)
        there.state = fulfilment.state(after: revocation, of: recorded.transaction, given: given)
        let (type, moment) = change(from: there, to: told, recorded)
        // By another number of the same purchase it is taken back as it was.
        if type == .deliveryChanged, told.state != .granted { return fulfilment }
        told.fence += 1
        told.delivery = delivery(of: told, type, told.delivery)
        told = put(told)
        tell(type, stream(of: told), happenedAt: moment, .fulfilment(told, recorded))
        return told
    }

    /// What was given, by whomever: the amounts that another system has delivered stand in no row, and the catalogue has them.
    private func allGiven(by row: Fulfilment, for transaction: Transaction) -> [GrantedGoods] {
        guard row.isImported, let all = goods(of: transaction) else { return row.goods }
        return row.goods + all.filter { !$0.isEntitlement }
    }

    /// What happened, and when.
    private func change(
        from before: Fulfilment,
        to after: Fulfilment,
        _ recorded: RecordedTransaction
    ) -> (EventType, Timestamp) {
        let signed = recorded.transaction.signedAt
        if after.state == before.state, after.reversed == before.reversed { return (.deliveryChanged, signed) }
        // Of what gives access nothing is given again by a smaller part.
        let isMore = before.state == .granted || after.state == .reversed || after.reversed > before.reversed
        let isTaken = after.state != .granted && isMore
        guard isTaken else { return (.deliveryRestored, signed) }
        let takenAt = after.isTakenAsCopy ? recorded.transaction.takenBack?.at : after.reversedAt
        return (.deliveryCompensated, takenAt ?? signed)
    }

    /// How far it is from the shop's having done what is to be done now.
    ///
    /// What was delivered stays so when a part of it is taken back; what was not is still to be delivered, less that part.
    private func delivery(
        of after: Fulfilment,
        _ type: EventType,
        _ before: DeliveryProgress?
    ) -> DeliveryProgress {
        if after.state == .reversed { return .compensated }
        let isDelivered = before == .acknowledged || before == .sent
        return type == .deliveryCompensated && isDelivered ? before ?? .pending : .pending
    }

    /// Whether it is known until when it lasts, without what was written when it was given. Of a season that is sold no more
    /// nobody knows it: that is not for ever, and a person can give the rest of it.
    private func hasKnownEnd(_ transaction: Transaction) -> Bool {
        kind(of: transaction) != .nonRenewing || terms.products?[transaction.product] != nil
            || transaction.expiresAt != nil
    }

    /// Until when something was given.
    private enum SoldEnd {
        case unknown
        case never
        case at(Timestamp)

        var moment: Timestamp? { if case .at(let moment) = self { moment } else { nil } }
    }

    /// Until when it may be used, once it was given until a moment, as long as Apple takes it not back.
    private func end(of recorded: RecordedTransaction, sold: SoldEnd, isTaken: Bool) -> Timestamp? {
        let transaction = recorded.transaction
        let (kind, known) = (kind(of: transaction), sold.moment)
        var end = self.end(of: transaction)
        // What was sold for a period of the shop's lasts as long as that, whatever the shop sells by now, or sells no more, and
        // whatever it calls it.
        switch (kind, sold) {
        case (.nonRenewing, .never): end = nil
        case (.nonRenewing, _): end = [end, known].compactMap(\.self).max()
        case (nil, _), (.consumable, _): end = end ?? known
        default: break
        }
        if let other = endOfRepetitions(of: recorded, before: known) { end = end.map { max($0, other) } }
        if isTaken { return end }
        // The upgrade's own entitlement took its place. From which moment is known to that one alone, so this one ends
        // where it began, whatever order the facts came in.
        return transaction.isUpgraded ? transaction.purchasedAt : end
    }

    /// Receipts cut moments to whole seconds: less is no difference.
    private static func differ(_ left: [GrantedGoods], _ right: [GrantedGoods]) -> Bool {
        zip(left, right).contains { left, right in
            guard case .entitlement(_, let one) = left, case .entitlement(_, let other) = right else { return false }
            guard let one, let other else { return one != other }
            return abs(one.milliseconds / 1_000 - other.milliseconds / 1_000) > 0
        }
    }

    /// Takes back, or gives again, what is missing to the share that is to be reversed.
    private mutating func balance(
        _ amount: GrantedAmount,
        of fulfilment: Fulfilment,
        _ recorded: RecordedTransaction
    ) -> GrantedAmount {
        guard let customer = fulfilment.customer else { preconditionFailure("what was granted has a customer") }
        let key = WalletKey(app: recorded.app, realm: recorded.realm, customer: customer, currency: amount.currency)
        let wanted = amount.share(fulfilment.reversed)
        let missing = wanted - amount.reversed - amount.uncollected
        var after = amount
        if missing > 0 {
            let left = terms.allowsNegativeBalance ? missing : min(max(wallet(key).balance, 0), missing)
            move(left, in: key, from: .balance, to: .issued, cause: .refund, recorded.id)
            move(missing - left, in: key, from: .uncollected, to: .issued, cause: .refund, recorded.id)
            after.reversed += left
            after.uncollected += missing - left
        } else if missing < 0 {
            // What was never collected is forgiven first.
            let forgiven = min(amount.uncollected, -missing)
            move(forgiven, in: key, from: .issued, to: .uncollected, cause: .refundReversed, recorded.id)
            move(-missing - forgiven, in: key, from: .issued, to: .balance, cause: .refundReversed, recorded.id)
            after.uncollected -= forgiven
            after.reversed -= -missing - forgiven
        }
        return after
    }

    private mutating func move(
        _ amount: Int64,
        in wallet: WalletKey,
        from debit: WalletAccount,
        to credit: WalletAccount,
        cause: PostingCause,
        _ transaction: TransactionID
    ) {
        guard amount > 0 else { return }
        post(amount, in: wallet, from: debit, to: credit, cause: cause, transaction: transaction)
    }

    /// Notes with an order how much of its payment was taken back, where a server of an earlier version wrote that it was, and
    /// knew no place for how much. The shop was told then.
    private mutating func amendOrder(of fulfilment: Fulfilment) {
        guard let id = fulfilment.order, var order = order(OrderKey(app: fulfilment.transaction.app, id: id)),
            order.refunded != fulfilment.reversed
        else { return }
        order.refunded = fulfilment.reversed
        order.change(to: order.state, at: now)
        put(order)
    }

    /// Notes with the order that something pays how much of it was taken back by now, and tells of it.
    mutating func followOrder(of fulfilment: Fulfilment, at moment: Timestamp) {
        guard let id = fulfilment.order, var order = order(OrderKey(app: fulfilment.transaction.app, id: id)) else {
            return
        }
        let before = (state: order.state, refunded: order.refunded)
        order.refunded = fulfilment.reversed
        if fulfilment.state == .reversed { order.state = .refunded }
        if fulfilment.state != .reversed, before.state == .refunded { order.state = .paid }
        guard order.state != before.state || order.refunded != before.refunded else { return }
        order.change(to: order.state, at: now)
        put(order)
        let type: EventType = order.state == .refunded ? .orderRefunded : .orderPaid
        tell(
            order.state == before.state ? .orderRefundChanged : type,
            StreamKey(app: order.app, realm: fulfilment.transaction.realm, customer: order.customer),
            happenedAt: moment,
            .order(order)
        )
    }
}

extension Fulfilment {
    /// All of it, in thousandths of a percent.
    package static let whole = 100_000

    /// Where what was given stands after a refund, or without one.
    ///
    /// A part leaves the rest of what can be divided: amounts, and what is used up by whoever delivers it without our knowing
    /// what it is. Access ends with any refund.
    ///
    /// Which amounts another system has delivered only a catalogue knows. Once a part of that is left, it stays so without one.
    ///
    /// - Parameters:
    ///   - revocation: what Apple took back of it.
    ///   - transaction: what was bought.
    ///   - all: what was given; of what was imported with its amounts, where they are known.
    /// - Returns: the state.
    package func state(
        after revocation: Revocation?,
        of transaction: Transaction,
        given all: [GrantedGoods]
    ) -> FulfilmentState {
        guard let revocation else { return .granted }
        let hasAmounts = all.isEmpty ? transaction.kind == .consumable : !all.allSatisfy(\.isEntitlement)
        let isDivisible = hasAmounts || isImported && state == .partlyReversed
        return isDivisible && revocation.share < Fulfilment.whole ? .partlyReversed : .reversed
    }

    /// Whether nothing has happened, and only the word for it is another: earlier versions called all of what was imported
    /// reversed where a part of it is left. Whom we have told nothing of it knows better, and has taken no more than that part.
    fileprivate func isOnlyAmended(by after: Fulfilment) -> Bool {
        isImported && fence <= max(importedFence, 1) && reversed == after.reversed
            && state == .reversed && after.state == .partlyReversed
    }
}

extension Revocation {
    /// How much of a purchase is taken back, in thousandths of a percent; all of it where Apple does not say.
    package var share: Int { min(max(percentage ?? Fulfilment.whole, 0), Fulfilment.whole) }
}

extension GrantedAmount {
    /// So many thousandths of a percent of it, in the customer's favour.
    package func share(_ part: Int) -> Int64 {
        let whole = Int64(Fulfilment.whole)
        return amount / whole * Int64(part) + amount % whole * Int64(part) / whole
    }
}
