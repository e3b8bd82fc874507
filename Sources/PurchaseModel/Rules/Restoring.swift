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
            _ = follow(holder, given, isTold: !naming.hasRow(of: holder))
        }
    }

    /// What Apple took back by just this number, of a family member's copy from nobody else: all of it, or a part of what may
    /// have other numbers.
    func returned(by transaction: Transaction) -> Revocation? {
        guard transaction.ownership != .familyShared, let taken = transaction.takenBack else { return nil }
        let mayHaveOthers = mayBeRestored(transaction) || isPaidPeriod(transaction)
        return mayHaveOthers || taken.share == Fulfilment.whole ? taken : nil
    }

    /// Has what was given for a purchase follow what Apple told of another number of it, and what waits wait no more where by
    /// that all of it was taken back.
    mutating func settleRestores(of chain: ChainKey, _ naming: Naming) {
        let waiting = fulfilments(of: chain).values.filter { $0.state == .waiting }
        for row in waiting.sorted(by: { $0.transaction.id < $1.transaction.id }) {
            guard let recorded = recorded(row.transaction), revocation(of: recorded)?.share == Fulfilment.whole else {
                continue
            }
            settle(recorded, naming.named(by: recorded))
        }
        let rows = fulfilments(of: chain).values.filter { $0.reason == .revoked || $0.isOfProduct }
        // What was not given may come to tell of a part for what was.
        let sorted = rows.sorted { $0.transaction.id < $1.transaction.id }
        for row in sorted.filter({ $0.unit == nil }) + sorted.filter({ $0.unit != nil }) {
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
    /// - Returns: what its own number says, when that is all of it; otherwise all of it by the earliest of the others that
    ///   say so, or the largest part that any number says, from the earliest on.
    package func takenBack(beside rows: some Sequence<Fulfilment>, as kind: Restorable) -> Revocation? {
        let own = transaction.takenBack
        // A family member's copy is taken back by itself, and from nobody else.
        guard own?.share != Fulfilment.whole, transaction.ownership != .familyShared else { return own }
        let others = rows.compactMap { row in row.transaction == key ? nil : row.returned(of: transaction, as: kind) }
        if others.isEmpty { return own }
        let all = others + [own].compactMap(\.self)
        // Once all of it is taken back, the parts before tell nothing more.
        let whole = all.filter { $0.share == Fulfilment.whole }
        let counted = whole.isEmpty ? all : whole
        return counted.map(\.at).min().map { Revocation(at: $0, percentage: counted.map(\.share).max()) }
    }
}

extension Fulfilment {
    /// Notes what Apple took back by a number for which nothing was given, all or a part: it counts for what was given by
    /// another one.
    ///
    /// - Parameter taken: by just this number; `nil` of what has no other.
    mutating func note(returned taken: Revocation?) {
        // Where only another number says that all is taken back, that one tells it to all of them.
        let told = (reason == .revoked) == (taken?.share == Fulfilment.whole) ? taken : nil
        reversedAt = told?.at
        reversed = reason == .revoked ? 0 : told?.share ?? 0
    }

    /// Whether Apple took something back by it, all or a part, before anything was given for it.
    package var tellsOfReturn: Bool { unit == nil && (reason == .revoked || reversedAt != nil) }

    /// What Apple took back, by this number of a purchase for which nothing was given, also of what was given for another one.
    /// That is the same purchase if it is of the same product, and was bought until then.
    fileprivate func returned(of other: Transaction, as kind: Restorable) -> Revocation? {
        guard tellsOfReturn, let end = reversedAt, product == other.product, other.purchasedAt <= end,
            kind == .product || purchasedAt.seconds == other.purchasedAt.seconds
        else { return nil }
        return Revocation(at: end, percentage: reason == .revoked ? nil : reversed)
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
