/// A proof whose transactions have been verified, ready to be recorded.
package struct Recording: Hashable, Sendable {
    package var app: AppID
    package var realm: Realm
    package var transactions: [Transaction]
    /// What Apple signed about what comes next, of subscriptions of the same app and realm.
    package var renewals: [Renewal]
    /// What it came with, when Apple sent it by itself.
    package var announcement: Announcement?
    package var customer: CustomerID?
    package var order: OrderID?
    /// The token that client libraries make of the customer's name, for apps that set none of their own.
    package var customerToken: AccountToken?
    /// The transaction whose chain alone is the customer's; `nil` for all that the proof holds. The other chains are taken
    /// as if nobody had brought them.
    package var claimed: TransactionID?
    /// Whether the proof has more transactions, which are recorded by themselves: the order may be another one's.
    package var isOneOfSeveral = false
    /// Whether the customer has only named what was bought, by what anybody may guess: then it is hers as far as it was before,
    /// or Apple signed it for her. The rest is taken as if nobody had brought it.
    package var isOnlyNamed = false
    /// How the app delivers.
    package var terms: AppTerms
    /// How it came to us.
    package var source = RecordingSource.presented
    /// When another system's books were handed in, if Apple is heard later: what was bought after that does not stand in
    /// them. `nil` where nothing can have been bought in between.
    package var booksClosedAt: Timestamp?
    /// What became of one of them in the ledger of ours that it was exported from; `nil` where it comes out of none. The others of
    /// the proof are left alone then: each has a row of its own.
    package var exported: ExportedRow?
    /// When it was presented, if it had to wait: of books that were handed in after that it is no part.
    package var presentedAt: Timestamp?
    /// Whether whoever imports it says that nobody has delivered it yet, whatever other books have.
    package var isUndelivered = false
    /// Whether it was asked for, or kept, to learn what became of old purchases: it is no word that any of them was bought.
    package var isLookedUp = false
    /// Whether Apple has told of newer periods, which are recorded after it: nobody is told that the subscription is over.
    package var isFollowed = false
    /// What had to wait for it and now ends, if the shop is to hear of that.
    package var settled: SettledSubmission?
    /// When subscriptions are looked at again.
    package var schedule = LookSchedule()

    package init(
        app: AppID,
        realm: Realm,
        transactions: [Transaction],
        renewals: [Renewal] = [],
        customer: CustomerID? = nil,
        order: OrderID? = nil,
        customerToken: AccountToken? = nil,
        terms: AppTerms = AppTerms()
    ) {
        self.app = app
        self.realm = realm
        self.transactions = transactions
        self.renewals = renewals
        self.customer = customer
        self.order = order
        self.customerToken = customerToken
        self.terms = terms
    }

    /// The keys under which the ledger must be asked before this can be decided.
    package var keys: [TransactionKey] {
        transactions.map { TransactionKey(app: app, realm: realm, id: $0.id) }
    }

    /// The transactions that name a chain which theirs goes on from, with that: as good as always none.
    var moves: [(key: TransactionKey, transaction: Transaction, previous: TransactionID)] {
        transactions.compactMap { transaction in
            transaction.previousOriginalID.map { previous in
                (TransactionKey(app: app, realm: realm, id: transaction.id), transaction, previous)
            }
        }
    }

    package func chain(of transaction: Transaction) -> ChainKey {
        ChainKey(app: app, realm: realm, original: transaction.originalID ?? transaction.id)
    }

    /// Whether somebody presents it, or Apple tells of it as just bought: what became of an old purchase is no reason to
    /// give it.
    var isOfPurchase: Bool { source == .presented && !isFollowUp }

    /// Whether it tells what became of purchases.
    var isFollowUp: Bool { isLookedUp || announcement?.tellsOfPurchase == false }

    func chain(of renewal: Renewal) -> ChainKey {
        ChainKey(app: app, realm: realm, original: renewal.originalID)
    }
}

/// How a proof came to us. What it proves is the same; what follows for the shop is not.
package enum RecordingSource: Hashable, Sendable {
    /// Somebody presented it just now, or Apple sent it.
    case presented
    /// Out of another system's books, which has delivered it already: it is known from now on whose it is, and the shop is
    /// told nothing of it.
    case imported
    /// Out of Apple's history of a customer: what nobody has presented waits for whoever presents it, and nobody is told of
    /// it.
    case history
}

/// Decides what to write for one verified proof.
///
/// Each transaction is recorded once; of two facts about one transaction the one that Apple signed later counts,
/// whatever order they arrive in; at the same moment a revocation counts. So any order and any repetition of the same
/// proofs leads to the same ledger, save for who came first. What each transaction gives is decided with it, and how the
/// subscription stands that it belongs to.
///
/// - Parameters:
///   - situation: around the proof: see ``Inquiry``.
///   - recording: what it proves, and what was said beside it.
///   - ownToken: the token that client libraries make of anybody's name: what Apple signed it for is taken from nobody by
///     naming it.
///   - now: the moment.
/// - Returns: what to write.
package func decide(
    _ situation: Situation,
    _ recording: Recording,
    ownToken: @escaping (CustomerID) -> AccountToken?,
    at now: Timestamp
) -> Decision {
    var decision = draft(situation, recording, ownToken: ownToken, at: now)
    decision.countFigures(after: situation)
    return decision
}

/// All of a decision but the figures. The draft ends here: of a long receipt it is larger than what was decided, and what
/// counts the figures is large as well.
private func draft(
    _ situation: Situation,
    _ recording: Recording,
    ownToken: @escaping (CustomerID) -> AccountToken?,
    at now: Timestamp
) -> Decision {
    var draft = Draft(situation, terms: recording.terms, at: now, ownToken: ownToken)
    draft.record(recording)
    draft.foldSubscriptions(recording)
    draft.fulfil(recording)
    draft.tellOfSubscriptions(recording)
    draft.hear(recording)
    draft.tellEnd(of: recording.settled)
    return draft.decision
}

extension Recording {
    /// The same when nobody has brought it.
    fileprivate var ofNobody: Recording {
        var nobodys = self
        (nobodys.customer, nobodys.customerToken, nobodys.order) = (nil, nil, nil)
        return nobodys
    }

    /// The same when no order was named.
    fileprivate var forNoOrder: Recording {
        var unnamed = self
        unnamed.order = nil
        return unnamed
    }
}

extension Draft {
    /// What is the customer's of a proof that holds several people's; `nil` when it is all of it.
    func claimedChains(of recording: Recording) -> Set<ChainKey>? {
        guard let id = recording.claimed else { return nil }
        let key = TransactionKey(app: recording.app, realm: recording.realm, id: id)
        if let known = known[key] { return [chain(of: known)] }
        return Set(recording.transactions.filter { $0.id == id }.map { recording.chain(of: $0) })
    }

    /// Of which chains something was said; `nil` for all.
    func namedChains(of recording: Recording) -> Set<ChainKey>? {
        guard recording.isOnlyNamed else { return claimedChains(of: recording) }
        return Set(decision.outcomes.map { chain(of: $0.recorded) }.filter { isHers($0, recording.customer) })
    }

    fileprivate mutating func record(_ recording: Recording) {
        let known = known.transactions(app: recording.app, realm: recording.realm)
        edit { decision in
            decision.outcomes.reserveCapacity(recording.transactions.count)
            if known.isEmpty { decision.changes.reserveCapacity(recording.transactions.count) }
        }
        // Where each id of this proof stands, for those that follow a first one.
        var places = [TransactionID: Place](minimumCapacity: recording.transactions.count)
        noteTokens(of: recording)
        noteMoves(of: recording)
        ordered = whatIsOrdered(in: recording)
        let claimed = claimedChains(of: recording)
        let (nobodys, forNone) = (recording.ofNobody, recording.forNoOrder)
        for transaction in recording.transactions {
            let known = known[transaction.id]
            let chain = known.map { self.chain(of: $0) } ?? recording.chain(of: transaction)
            let isSaid =
                recording.isOnlyNamed
                ? mayName(chain, with: transaction, known, recording) : claimed?.contains(chain) != false
            let said = !isSaid ? nobodys : ordered.contains(transaction.id) ? recording : forNone
            record(transaction, known, in: chain, said, &places)
            guard recording.isOnlyNamed, recording.customer != nil, !isHers(chain, recording.customer),
                let place = places[transaction.id]
            else { continue }
            edit { $0.outcomes[place.outcome].standing = .ownedByAnother }
        }
        if places.count > 16 { outcomePlaces = places.mapValues(\.outcome) }
        handOn(recording)
        // Another transaction of the proof may have brought its chain, by what Apple signed of that.
        for place in decision.outcomes.indices where decision.outcomes[place].standing == .ownedByAnother {
            guard isHers(chain(of: decision.outcomes[place].recorded), recording.customer) else { continue }
            edit { $0.outcomes[place].standing = .recorded }
        }
    }

    private mutating func record(
        _ transaction: Transaction,
        _ known: RecordedTransaction?,
        in chain: ChainKey,
        _ recording: Recording,
        _ places: inout [TransactionID: Place]
    ) {
        let customer = claim(chain, with: transaction, known, recording)
        let isForeign = !mayUse(chain, recording.customer)
        let now = now
        edit { decision in
            if let place = places[transaction.id] {
                places[transaction.id] = decision.repeatOutcome(at: place, transaction, customer, recording)
            } else if let known {
                places[transaction.id] = decision.addOutcome(from: known, transaction, customer, recording)
            } else {
                places[transaction.id] = decision.addFirst(transaction, customer, recording, at: now)
            }
            guard isForeign, let place = places[transaction.id] else { return }
            decision.outcomes[place.outcome].standing = .ownedByAnother
        }
    }

    private func isHers(_ chain: ChainKey, _ customer: CustomerID?) -> Bool {
        customer.flatMap { owner(of: chain)?.mayUse($0) } ?? false
    }

    private func mayUse(_ chain: ChainKey, _ customer: CustomerID?) -> Bool {
        guard let customer, let owner = owner(of: chain) else { return true }
        return owner.mayUse(customer)
    }
}

/// What is known with what a fresh proof adds to it; `nil` when that is nothing.
private func merge(
    _ known: RecordedTransaction,
    _ fresh: Transaction,
    _ customer: CustomerID?,
    _ recording: Recording
) -> RecordedTransaction? {
    var merged = known
    // A repetition, by far the most common case, leaves the shared row alone.
    if !known.says(fresh) {
        var folded = fold(known.transaction, fresh)
        // Apple names one chain for ever. Should it not, what was given is looked for in the first, and not given again.
        if let original = known.transaction.originalID { folded.originalID = original }
        merged.transaction = folded
    }
    if merged.customer == nil, customer != nil { merged.customer = customer }
    // The owner may name the order later, but no second one.
    if merged.order == nil, recording.order != nil, merged.customer == recording.customer {
        merged.order = recording.order
    }
    return merged == known ? nil : merged
}

extension RecordedTransaction {
    /// Whether a fact is what counts from now on; otherwise it repeats what is known, or only adds to it.
    fileprivate func isProvedAnew(by fresh: Transaction) -> Bool {
        !says(fresh) && supersedes(fresh, transaction)
    }

    /// How the row changes by a fact that has made it another one.
    fileprivate func change(to merged: RecordedTransaction, by fresh: Transaction) -> LedgerChange {
        if isProvedAnew(by: fresh) {
            return fresh.tellsEverything || !transaction.tellsEverything ? .update(merged) : .updateByLess(merged)
        }
        let adds = fresh.tellsEverything && !says(merged.transaction)
        return adds ? .amendByMore(merged) : .amend(merged)
    }
}

extension Transaction {
    /// Whether a fact is of StoreKit 2, or as full. Receipts know no price, no offer, no owner and no upgrade.
    fileprivate var tellsEverything: Bool { ownership != nil }
}

/// Where a transaction stands in a decision: its outcome, and the row to write if there is one.
private struct Place {
    var outcome: Int
    var change: Int?
}

extension Decision {
    fileprivate mutating func addFirst(
        _ fresh: Transaction,
        _ customer: CustomerID?,
        _ recording: Recording,
        at now: Timestamp
    ) -> Place {
        let recorded = RecordedTransaction(
            app: recording.app,
            realm: recording.realm,
            transaction: fresh,
            customer: customer,
            order: customer == recording.customer ? recording.order : nil,
            recordedAt: now
        )
        changes.append(.insert(recorded))
        return addOutcome(recorded, isNew: true, change: changes.count - 1)
    }

    fileprivate mutating func addOutcome(
        from known: RecordedTransaction,
        _ fresh: Transaction,
        _ customer: CustomerID?,
        _ recording: Recording
    ) -> Place {
        guard let merged = merge(known, fresh, customer, recording) else { return addOutcome(known) }
        if let customer, known.customer == nil, customer == recording.customer { shown.insert(known.key) }
        changes.append(known.change(to: merged, by: fresh))
        return addOutcome(merged, change: changes.count - 1)
    }

    private mutating func addOutcome(
        _ recorded: RecordedTransaction,
        isNew: Bool = false,
        change: Int? = nil
    ) -> Place {
        // How it stands is said once it is decided what it gives.
        outcomes.append(TransactionOutcome(recorded: recorded, standing: .recorded, isNew: isNew))
        return Place(outcome: outcomes.count - 1, change: change)
    }

    /// The same transaction stood twice in one proof: one outcome and one row, with what counts of both.
    fileprivate mutating func repeatOutcome(
        at place: Place,
        _ fresh: Transaction,
        _ customer: CustomerID?,
        _ recording: Recording
    ) -> Place {
        let known = outcomes[place.outcome].recorded
        guard let merged = merge(known, fresh, customer, recording) else { return place }
        let change = known.change(to: merged, by: fresh)
        outcomes[place.outcome].recorded = merged
        outcomes[place.outcome].standing = .recorded
        guard let index = place.change else {
            changes.append(change)
            return Place(outcome: place.outcome, change: changes.count - 1)
        }
        // Both are of one proof.
        switch (changes[index], change) {
        case (.insert, _): changes[index] = .insert(merged)
        case (.updateByLess, _), (_, .updateByLess): changes[index] = .updateByLess(merged)
        case (.update, _), (_, .update): changes[index] = .update(merged)
        case (.amendByMore, _): changes[index] = .amendByMore(merged)
        case (.amend, _): changes[index] = change
        }
        return place
    }
}
