// What came out of another ledger of ours stands here as it stood there: what was given by its fence, what was not as not given.
extension Draft {
    /// Why nothing was given for a transaction in the ledger that it is from. It stays so here, whatever else is known by now:
    /// the rest of the export is still to come. `nil` where that decides nothing.
    ///
    /// - Parameters:
    ///   - recorded: the transaction.
    ///   - before: what was decided here; what this ledger has heard of by itself is decided by its own rules.
    ///   - customer: whose it is here.
    ///   - naming: what its row says.
    /// - Returns: the state and the reason.
    func heldBack(
        _ recorded: RecordedTransaction,
        _ before: Fulfilment?,
        _ customer: CustomerID?,
        _ naming: Naming
    ) -> (state: FulfilmentState, reason: FulfilmentReason)? {
        guard case .notGiven(let state, let reason, _) = naming.outcome(of: recorded.id),
            naming.decidesAbout(before), recorded.order == nil, revocation(of: recorded)?.share != Fulfilment.whole
        else { return nil }
        // It waited for somebody, who is known here.
        if customer != nil, reason == .noCustomer || reason == .fromHistory { return nil }
        return (state, reason)
    }

    /// Notes what a row says of a transaction for which nothing was given here yet.
    func noteExport(_ fulfilment: inout Fulfilment, after before: Fulfilment?, _ naming: Naming) {
        switch naming.outcome(of: fulfilment.transaction.id) {
        case .delivered(let fence, _) where fulfilment.isImported:
            fulfilment.importedFence = max(fulfilment.importedFence, fence)
        // Another row's proof had it, too, and was taken for delivered as a whole. What stands in another system's books stays
        // delivered by that one.
        case .notGiven where before.map({ !$0.isImported || naming.hasClosed($0) }) ?? true:
            (fulfilment.isImported, fulfilment.booksClosedAt) = (false, nil)
        case .delivered, .notGiven, nil: break
        }
    }

    /// Goes on from the fence with which something was given in the ledger that it is from.
    ///
    /// - Parameters:
    ///   - fulfilment: as it stands here.
    ///   - naming: what its row says.
    /// - Returns: whether the shop has heard from that ledger of all that was changed until then.
    mutating func goOn(_ fulfilment: inout Fulfilment, _ naming: Naming) -> Bool {
        guard naming.hasRow(of: fulfilment) else { return false }
        guard let outcome = naming.outcome(of: fulfilment.transaction.id) else { return true }
        guard case .delivered(let fence, _) = outcome, fence >= fulfilment.fence else { return false }
        // Also where both are alike: that its first row was taken must be known when the others come.
        if fence > fulfilment.fence || fulfilment.importedFence == 0 {
            fulfilment.importedFence = max(fulfilment.importedFence, 1) + fence - fulfilment.fence
            fulfilment.fence = fence
            fulfilment = put(fulfilment, decidedAt: fulfilment.decidedAt)
        }
        return true
    }

    /// Lets nothing be given where that counted as delivered for no more than that it stood in the books of its subscription,
    /// or in the proof of another row, and its own row says that nobody has delivered it. This ledger has heard of it by
    /// itself then: its own rules decide.
    ///
    /// Not so once the shop was told of a change, nor of what was given there by another number.
    ///
    /// - Parameters:
    ///   - given: as it stands here.
    ///   - naming: what its row says.
    /// - Returns: how it stands now.
    mutating func unsay(_ given: Fulfilment, _ naming: Naming) -> Fulfilment {
        guard case .notGiven(let state, let reason, _) = naming.outcome(of: given.transaction.id),
            reason != .alreadyGranted, given.isImported, given.importedFence == 0, given.fence == 1,
            naming.isOfSameBooks(given), !standsInOtherBooks(given, naming)
        else { return given }
        var row = given
        (row.state, row.reason, row.unit, row.goods) = (state, reason, nil, [])
        (row.reversed, row.reversedAt, row.delivery, row.fence) = (0, nil, nil, 0)
        (row.isImported, row.booksClosedAt) = (false, nil)
        unsaid.insert(row.chain)
        return put(row)
    }

    /// Whether another system's books, handed in out of which something of its chain was imported, have it as well.
    private func standsInOtherBooks(_ row: Fulfilment, _ naming: Naming) -> Bool {
        fulfilments(of: row.chain).values.contains { other in
            guard other.isImported, !naming.isOfSameBooks(other), let closed = other.booksClosedAt else { return false }
            return row.purchasedAt < closed
        }
    }

    /// Tells how something stands that Apple has changed since its row was written, where the shop has not heard of it by a
    /// greater fence than that row's. Only the first row of it counts: the others have older proofs.
    ///
    /// - Parameters:
    ///   - fulfilment: as it stands here.
    ///   - before: as it stood before its row was taken.
    ///   - recorded: as Apple tells of it by now.
    ///   - naming: what its row says, and the proof beside it.
    /// - Returns: with its next fence, if it was told.
    mutating func tellSince(
        _ fulfilment: Fulfilment,
        after before: Fulfilment?,
        _ recorded: RecordedTransaction,
        _ naming: Naming
    ) -> Fulfilment {
        guard before.map({ $0.importedFence == 0 }) ?? true, fulfilment.isImported, fulfilment.isGiven,
            case .delivered(let fence, let isTakenBack) = naming.outcome(of: recorded.id), fence > 0,
            fulfilment.fence <= fence, let fact = naming.factThere(of: recorded, isTakenBack: isTakenBack),
            recorded.isTakenBackOtherwise(than: fact) && (isTakenBack || fulfilment.isReversed)
                || endsOtherwise(fulfilment, recorded, than: fact)
        else { return fulfilment }
        return tellChange(of: fulfilment, recorded, since: fact)
    }

    /// Whether Apple has said since that access ends at another moment, as by an extension or an upgrade. Receipts know less,
    /// and tell nothing of that.
    private func endsOtherwise(
        _ fulfilment: Fulfilment,
        _ recorded: RecordedTransaction,
        than fact: Transaction
    ) -> Bool {
        guard fact.ownership != nil, fact.takenBack == nil, fulfilment.state == .granted,
            fulfilment.goods.contains(where: \.isEntitlement)
        else { return false }
        let ends = [fact, recorded.transaction].map { $0.isUpgraded ? $0.purchasedAt : end(of: $0) }
        // Receipts cut moments to whole seconds: less is no difference.
        return ends[0]?.seconds != ends[1]?.seconds
    }

    /// How the rest of a chain came that is settled when an export's row has said whose it is: what was bought after all that its
    /// ledger has rows of came by itself.
    func occasion(of recorded: RecordedTransaction, _ naming: Naming) -> Naming {
        guard let row = naming.exported, row.transaction != recorded.id, let until = row.booksUntil,
            recorded.purchasedAt >= until,
            let other = self.recorded(TransactionKey(app: recorded.app, realm: recorded.realm, id: row.transaction)),
            chain(of: other) == chain(of: recorded)
        else { return naming.named(by: recorded) }
        return Naming(of: recorded, customerToken: naming.customerToken)
    }
}

extension Naming {
    /// Whether the row that is read decides about what stands here: not where this ledger has heard of it by itself.
    func decidesAbout(_ before: Fulfilment?) -> Bool { before.map { $0.isImported && hasClosed($0) } ?? true }

    /// Whether only Apple's history had told the ledger of it that it is from.
    func wasOfHistory(_ recorded: RecordedTransaction, _ before: Fulfilment?) -> Bool {
        outcome(of: recorded.id)?.isOfHistory == true && decidesAbout(before)
    }

    /// Whether the shop has not heard from the ledger that it is from that it was taken back.
    func isUntold(_ fulfilment: Fulfilment, _ revocation: Revocation?) -> Bool {
        guard revocation != nil, case .delivered(let fence, let isTakenBack) = outcome(of: fulfilment.transaction.id)
        else { return false }
        return fence > 0 && !isTakenBack
    }

    /// When the books end in which a transaction stands: those of its own row by what that says.
    func booksEnd(for recorded: RecordedTransaction) -> Timestamp? {
        leavesAlone(recorded) ? booksClosedAt : exported?.booksUntil ?? booksClosedAt
    }

    /// What the row that is read says of a transaction; `nil` if it is about none, or another one.
    func outcome(of transaction: TransactionID) -> ExportedOutcome? {
        exported.flatMap { $0.transaction == transaction ? $0.outcome : nil }
    }

    /// Whether an export has another row for a transaction, which says what became of it.
    func leavesAlone(_ recorded: RecordedTransaction) -> Bool {
        exported.map { $0.transaction != recorded.id } ?? false
    }

    /// Whether what was given came out of an export that is read, and another row of it may say how it stands.
    func hasRow(of fulfilment: Fulfilment) -> Bool { exported != nil && fulfilment.isImported }

    /// Whether it counts as delivered for no more than that it stands in these books, in the proof of another row. Of books
    /// without a moment, as a table has none, that is believed.
    func hasClosed(_ fulfilment: Fulfilment) -> Bool {
        guard fulfilment.importedFence == 0 else { return false }
        if booksClosedAt == nil { return true }
        return isOfSameBooks(fulfilment)
    }

    /// Whether it counts as delivered by the books that are read: their moments are known.
    func isOfSameBooks(_ fulfilment: Fulfilment) -> Bool {
        fulfilment.booksClosedAt.map { [booksClosedAt, exported?.booksUntil].contains($0) } ?? false
    }

    /// What Apple had said of it when its row was written. `nil` where that is not what the row says itself, as a receipt knows
    /// less: then it tells nothing.
    func factThere(of recorded: RecordedTransaction, isTakenBack: Bool) -> Transaction? {
        exportedFact.flatMap { $0.id == recorded.id && ($0.takenBack != nil) == isTakenBack ? $0 : nil }
    }

    /// Whether nothing was given for it in the ledger that it is from: of that the shop has heard.
    func wasHeldBack(_ recorded: RecordedTransaction) -> Bool {
        if case .notGiven = outcome(of: recorded.id) { true } else { false }
    }
}

extension RecordedTransaction {
    /// Whether another part of it is taken back, all or none, than an older word of Apple's says. Of a receipt, which knows no
    /// parts, only whether any is.
    fileprivate func isTakenBackOtherwise(than fact: Transaction) -> Bool {
        let (old, new) = (fact.takenBack, transaction.takenBack)
        return fact.ownership == nil ? (old == nil) != (new == nil) : old?.share != new?.share
    }
}
