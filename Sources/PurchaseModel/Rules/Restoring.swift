// What is bought for good, and a paid period, may have several numbers: a restore by StoreKit 1 has one of its own, and Apple
// takes the purchase back, or moves its end, by one of them.
extension Draft {
    /// What Apple took back of a purchase, by its own number or by another one of it.
    func revocation(of recorded: RecordedTransaction) -> Revocation? {
        let transaction = recorded.transaction
        if mayBeRestored(transaction) {
            return recorded.takenBack(beside: fulfilments(of: chain(of: recorded)).values, as: .product)
        }
        guard isPaidPeriod(transaction) else { return transaction.takenBack }
        return recorded.takenBack(beside: repetitions(of: recorded), as: .period)
    }

    /// Until when a paid period lasts by its other numbers, if it has any.
    ///
    /// By those that were not looked up it lasts as long as was `known`: of them nothing new is told.
    func endOfRepetitions(of recorded: RecordedTransaction, before known: Timestamp?) -> Timestamp? {
        guard isPaidPeriod(recorded.transaction), recorded.transaction.ownership != .familyShared else { return nil }
        return repetitions(of: recorded).compactMap { row in
            guard let other = self.recorded(row.transaction)?.transaction else { return known }
            return other.ownership == .familyShared ? nil : other.expiresAt
        }.max()
    }

    /// Has a paid period follow what Apple told of a number of it for which nothing was given: what was given for it by
    /// another, and what was not given as this one was taken back.
    mutating func followRepetition(_ recorded: RecordedTransaction, _ naming: Naming) {
        guard isPaidPeriod(recorded.transaction) else { return }
        for row in repetitions(of: recorded) where row.reason == .revoked {
            guard let other = self.recorded(row.transaction) else { continue }
            if revocation(of: other)?.share == Fulfilment.whole { continue }
            settle(other, naming.of(row.chain).named(by: other))
        }
        let period = GrantUnit.period(from: recorded.purchasedAt, recorded.transaction.product)
        for holder in holders(of: period, in: chain(of: recorded)) where holder.transaction != recorded.key {
            guard let given = self.recorded(holder.transaction) else { continue }
            _ = follow(holder, given)
        }
    }

    /// Has what was given for a purchase follow what Apple told of another number of it.
    mutating func settleRestores(of chain: ChainKey, _ naming: Naming) {
        let rows = fulfilments(of: chain).values.filter { $0.reason == .revoked || $0.isOfProduct }
        for row in rows.sorted(by: { $0.transaction.id < $1.transaction.id }) {
            guard let recorded = recorded(row.transaction), mayBeRestored(recorded.transaction) else { continue }
            let settled = settle(recorded, naming.named(by: recorded))
            if settled.isReversed, row.state == .granted { reconsiderRepetitions(in: chain, naming) }
        }
    }
}

/// What may have several numbers in its chain.
package enum Restorable: Sendable {
    /// What is bought for good: the chain has it once, until it is bought anew.
    case product
    /// A paid period, which is known by its beginning.
    case period
}

extension RecordedTransaction {
    /// What Apple took back of something that may have several numbers.
    ///
    /// - Parameters:
    ///   - rows: what became of the other numbers of its chain.
    ///   - kind: as what it may have them.
    /// - Returns: what its own number says, when that is all of it, or the earliest of the others.
    package func takenBack(beside rows: some Sequence<Fulfilment>, as kind: Restorable) -> Revocation? {
        let own = transaction.takenBack
        // A family member's copy is taken back by itself, and from nobody else.
        guard own?.share != Fulfilment.whole, transaction.ownership != .familyShared else { return own }
        let ends = rows.compactMap { row in row.transaction == key ? nil : row.end(of: transaction, as: kind) }
        return ends.min().map { Revocation(at: $0) } ?? own
    }
}

extension Transaction {
    /// When Apple took back all of what it was bought for, whatever the number.
    var endOfPurchase: Timestamp? {
        guard ownership != .familyShared, let takenBack, takenBack.share == Fulfilment.whole else { return nil }
        return takenBack.at
    }
}

extension Fulfilment {
    /// When Apple took back, by this number of a purchase for which nothing was given, also what was given for another one.
    /// That is the same purchase if it is of the same product, and was bought until then.
    fileprivate func end(of other: Transaction, as kind: Restorable) -> Timestamp? {
        guard reason == .revoked, let end = reversedAt, product == other.product, other.purchasedAt <= end else {
            return nil
        }
        return kind == .product || purchasedAt.seconds == other.purchasedAt.seconds ? end : nil
    }

    /// As what it may have other numbers, by what was given for it.
    package var restorable: Restorable? {
        guard let unit = unit?.base else { return nil }
        if unit.isOfProduct { return .product }
        return unit.isOfPeriod ? .period : nil
    }

    /// Whether a refund of its chain, or its reversal, may change what becomes of it: of periods only those that it is of.
    func maySettleAnew(beside periods: Set<GrantUnit>) -> Bool {
        reason == .alreadyGranted || reason == .revoked || isOfProduct || unitsHeld.contains { periods.contains($0) }
    }

    /// Whether a product that is bought for good was given for it.
    fileprivate var isOfProduct: Bool { restorable == .product }
}
