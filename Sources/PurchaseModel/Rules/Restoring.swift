// What is bought for good may have several numbers: a restore by StoreKit 1 has one of its own, and Apple takes the purchase
// back by one of them.
extension Draft {
    /// What Apple took back of a purchase, by its own number or by another one of it.
    func revocation(of recorded: RecordedTransaction) -> Revocation? {
        guard mayBeRestored(recorded.transaction) else { return recorded.transaction.takenBack }
        return recorded.takenBack(beside: fulfilments(of: chain(of: recorded)).values)
    }

    /// Has what was given for a purchase follow what Apple told of another number of it.
    mutating func settleRestores(of chain: ChainKey, _ naming: Naming) {
        let rows = fulfilments(of: chain).values.filter { $0.reason == .revoked || $0.isOfProduct }
        for row in rows.sorted(by: { $0.transaction.id < $1.transaction.id }) {
            guard let recorded = recorded(row.transaction), mayBeRestored(recorded.transaction) else { continue }
            let settled = settle(recorded, naming.named(by: recorded))
            if settled.state == .reversed, row.state == .granted { reconsiderRepetitions(in: chain, naming) }
        }
    }
}

extension RecordedTransaction {
    /// What Apple took back of something that is bought for good.
    ///
    /// - Parameter rows: what became of the other numbers of its chain.
    /// - Returns: what its own number says, when that is all of it, or the earliest of the others.
    package func takenBack(beside rows: some Sequence<Fulfilment>) -> Revocation? {
        let own = transaction.takenBack
        // A family member's copy is taken back by itself, and from nobody else.
        guard own?.share != Fulfilment.whole, transaction.ownership != .familyShared else { return own }
        let ends = rows.compactMap { row in row.transaction == key ? nil : row.end(of: transaction) }
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
    fileprivate func end(of other: Transaction) -> Timestamp? {
        guard reason == .revoked, let end = reversedAt, product == other.product, other.purchasedAt <= end else {
            return nil
        }
        return end
    }

    /// Whether a refund of its chain, or its reversal, may change what becomes of it: it is no period.
    var maySettleAnew: Bool { reason == .alreadyGranted || reason == .revoked || isOfProduct }

    /// Whether a product that is bought for good was given for it.
    package var isOfProduct: Bool { unit?.base.isOfProduct == true }
}
