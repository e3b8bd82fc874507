// Which transactions of a chain are decided about, and in which order, when something is told of it.
extension Draft {
    /// Settles every transaction of a proof.
    mutating func fulfil(_ recording: Recording) {
        let naming = Naming(of: recording, chains: namedChains(of: recording))
        let recorded = decision.outcomes.map(\.recorded)
        noteOwnership()
        // Before it is known what is held of that, nothing else is given for it.
        settleCopies(naming)
        var given = settle(recorded, of: recording, named: naming)
        // Only where this proof itself tells of the refund: for others the repetitions were not looked up.
        let refunded = Set(recording.transactions.filter { $0.takenBack != nil }.map(\.id))
        var reversed: Set<ChainKey> = []
        for fulfilment in given where fulfilment.isReversed && refunded.contains(fulfilment.transaction.id) {
            guard reversed.insert(fulfilment.chain).inserted else { continue }
            reconsiderRepetitions(in: fulfilment.chain, naming)
        }
        let returned = chainsWithReturns(in: recording)
        var seen: Set<ChainKey> = []
        let chains = recorded.map { chain(of: $0) }
        for chain in chains + handedOn + chains.flatMap({ ownSuccessors(of: $0) }) where seen.insert(chain).inserted {
            if returned.contains(chain) { settleRestores(of: chain, naming.of(chain)) }
            settleRest(of: chain, naming.of(chain))
        }
        settleInGrace(naming)
        vouch()
        for place in recorded.indices {
            // The rest of its chain may have let it be given, or tell of it.
            given[place] = fulfilment(recorded[place]) ?? given[place]
            guard decision.outcomes[place].standing != .ownedByAnother else { continue }
            let standing = standing(of: recorded[place], given[place], under: terms)
            edit { ($0.outcomes[place].fulfilment, $0.outcomes[place].standing) = (given[place], standing) }
        }
    }

    /// Settles what was said something of, all of it or not: by the chains in which it stood before.
    private mutating func settle(
        _ recorded: [RecordedTransaction],
        of recording: Recording,
        named naming: Naming
    ) -> [Fulfilment] {
        let ordered = ordered
        let beside = ownerlessPeriods(beside: recorded, naming)
        // Whoever names no chains speaks of all.
        if naming.chains == nil, beside.isEmpty { return settle(recorded) { naming.said(of: $0, ordered) } }
        let known = known
        let said = Dictionary(beside.map { ($0.period.id, $0.said) }, uniquingKeysWith: { first, _ in first })
        let given = settle(recorded + beside.map(\.period)) { recorded in
            said[recorded.id] ?? naming.of(known.chain(of: recorded)).said(of: recorded, ordered)
        }
        return Array(given.prefix(recorded.count))
    }

    /// What was bought before in the same chains, and was nobody's until now, each with what is said of it: it pays the order
    /// that its renewal would pay. What is presented as bought anew pays its own.
    private func ownerlessPeriods(
        beside recorded: [RecordedTransaction],
        _ naming: Naming
    ) -> [(period: RecordedTransaction, said: Naming)] {
        var (chains, newest): ([ChainKey], [ChainKey: Timestamp]) = ([], [:])
        for period in recorded where period.isSubscriptionPeriod && period.transaction.reason != .purchase {
            let chain = chain(of: period)
            guard owner(of: chain) != nil else { continue }
            if newest[chain] == nil { chains.append(chain) }
            newest[chain] = max(newest[chain] ?? period.purchasedAt, period.purchasedAt)
        }
        if chains.isEmpty { return [] }
        let ids = Set(recorded.map(\.id))
        return chains.flatMap { chain in
            waiting(in: chain) { $0.isOwnerless && !ids.contains($0.transaction.id) }
                .filter { period in period.isSubscriptionPeriod && newest[chain].map { period.purchasedAt < $0 } == true
                }
                .map { ($0, occasion(of: $0, naming.of(chain))) }
        }
    }

    /// The chains of what a proof tells to be taken back, or to be taken back no more. The rest of no other was looked up.
    private func chainsWithReturns(in recording: Recording) -> Set<ChainKey> {
        var found: Set<ChainKey> = []
        for transaction in recording.transactions where transaction.revocation != nil {
            let key = TransactionKey(app: recording.app, realm: recording.realm, id: transaction.id)
            found.insert(known.fulfilment(of: key)?.chain ?? recording.chain(of: transaction))
        }
        for case .update(let row) in decision.fulfilments where row.reason != .revoked {
            if known.fulfilment(of: row.key)?.tellsOfReturn == true { found.insert(row.chain) }
        }
        return found
    }

    /// Writes the row of each transaction that was not given and of which something new is known, also where that changes
    /// nothing there: so that whoever gives it for what was known before is told that he did not see it.
    private mutating func vouch() {
        for change in decision.changes {
            guard let before = known.fulfilment(of: change.recorded.key), before.unit == nil,
                fulfilment(change.recorded) == before
            else { continue }
            put(before, decidedAt: before.decidedAt)
        }
    }

    /// Settles some transactions: first those that Apple took back; then those that pay the order that was named for them,
    /// before another one like them does; last those that lack nothing but an order, as what is given for the others may let
    /// them go on without one. Each time the periods of a chain in the order in which they were bought.
    ///
    /// - Returns: what became of them, in the order in which they were handed in.
    mutating func settle(_ all: [RecordedTransaction], naming: (RecordedTransaction) -> Naming) -> [Fulfilment] {
        var given = [Fulfilment?](repeating: nil, count: all.count)
        let turns = turns(of: all)
        // What was taken back comes first: nothing is given for what is restored of it, not even for a moment.
        for place in turns where givesNoMore(all[place]) { given[place] = settle(all[place], naming(all[place])) }
        for place in turns where given[place] == nil && paysItsOrder(all[place], naming(all[place])) {
            given[place] = settle(all[place], naming(all[place]))
        }
        for place in turns where given[place] == nil {
            if terms.needsOrder, findsNoOrder(all[place], naming(all[place])) { continue }
            given[place] = settle(all[place], naming(all[place]))
        }
        for place in turns where given[place] == nil { given[place] = settle(all[place], naming(all[place])) }
        return given.compactMap(\.self)
    }

    /// In which order some transactions are settled, by their places: as they are handed in, but the periods of a chain by when
    /// they were bought. Receipts list them in no order, and a renewal would pay the order of what it renews.
    ///
    /// - Returns: each place once.
    private func turns(of all: [RecordedTransaction]) -> [Int] {
        var turns = Array(all.indices)
        guard all.count > 1 else { return turns }
        var places: [ChainKey: [Int]] = [:]
        for (place, recorded) in all.enumerated() where recorded.isSubscriptionPeriod {
            places[chain(of: recorded), default: []].append(place)
        }
        for ofChain in places.values where ofChain.count > 1 {
            let sorted = ofChain.sorted { left, right in
                let (first, second) = (all[left], all[right])
                let (begin, next) = (first.purchasedAt.seconds, second.purchasedAt.seconds)
                if begin != next { return begin < next }
                // Of the numbers of one period first the one by which Apple took it back.
                if first.isRevoked != second.isRevoked { return first.isRevoked }
                return (first.id, left) < (second.id, right)
            }
            for (turn, place) in zip(ofChain, sorted) { turns[turn] = place }
        }
        return turns
    }

    /// Whether Apple took it back, and nothing comes to be given for it. Of a part of a period the rest is still to be given.
    private func givesNoMore(_ recorded: RecordedTransaction) -> Bool {
        guard recorded.isRevoked else { return false }
        guard recorded.isSubscriptionPeriod, fulfilment(recorded)?.unit == nil else { return true }
        return recorded.transaction.takenBack?.share == Fulfilment.whole
    }

    /// Whether it pays no order, and nothing of its chain lets it go on without one by now.
    private func findsNoOrder(_ recorded: RecordedTransaction, _ naming: Naming) -> Bool {
        guard fulfilment(recorded)?.unit == nil, !continues(recorded),
            let customer = owner(of: chain(of: recorded))?.customer
        else { return false }
        return match(recorded, of: customer, naming) == nil
    }

    /// Whether it pays the order that was named for it, as far as that can be told before it is given.
    private func paysItsOrder(_ recorded: RecordedTransaction, _ naming: Naming) -> Bool {
        guard naming.order != nil, fulfilment(recorded)?.unit == nil,
            let customer = owner(of: chain(of: recorded))?.customer
        else { return false }
        return match(recorded, of: customer, naming)?.1 == .orderID
    }

    /// Settles the rest of a chain of which something was told: whoever has one transaction of it has all of it, also what
    /// Apple told of before anybody was known, and what waited for an order goes on without one when anything was given,
    /// whichever of them came first.
    mutating func settleRest(of chain: ChainKey, _ naming: Naming) {
        guard let owner = owner(of: chain) else { return }
        let ownerless = waiting(in: chain, \.isOwnerless)
        if !ownerless.isEmpty {
            let occasions = ownerless.map { ($0.id, occasion(of: $0, naming)) }
            let said = Dictionary(occasions, uniquingKeysWith: { first, _ in first })
            _ = settle(ownerless) { said[$0.id] ?? naming.named(by: $0) }
        }
        guard terms.needsOrder, hasGrantsBefore(chain) else { return }
        for recorded in waiting(in: chain, \.lacksOrder) {
            // It was presented before, and not out of the books that are told of now.
            var rest = Naming(of: recorded, customerToken: naming.customerToken)
            rest.placedAfter = fulfilment(recorded).flatMap { owner.came(with: $0) }
            settle(recorded, rest)
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
    mutating func reconsiderRepetitions(in chain: ChainKey, _ naming: Naming) {
        let repetitions = fulfilments(of: chain).values.filter { $0.reason == .alreadyGranted }
        for repetition in repetitions.sorted(by: { $0.transaction.id < $1.transaction.id }) {
            guard let recorded = recorded(repetition.transaction) else { continue }
            settle(recorded, naming.of(chain).named(by: recorded))
        }
    }

    /// Brings what a transaction gives up to date with what is known of it.
    @discardableResult
    mutating func settle(_ recorded: RecordedTransaction, _ naming: Naming) -> Fulfilment {
        var before = fulfilment(recorded)
        if let before, naming.leavesAlone(recorded), before.unit == nil { return before }
        if let given = before, given.unit != nil { before = unsay(given, naming) }
        switch before?.state {
        case .granted, .partlyReversed, .reversed:
            guard var before else { preconditionFailure("it has a state") }
            if let token = recorded.transaction.accountToken, token != before.accountToken {
                before.accountToken = token
                put(before, decidedAt: before.decidedAt)
            }
            let known = before
            let isToldThere = goOn(&before, naming)
            return tellSince(follow(before, recorded, isTold: !isToldThere), after: known, recorded, naming)
        case .waiting, .withheld, nil:
            let after = consider(recorded, before, naming)
            if after.periodRepeated != nil || before?.tellsOfReturn == true { followRepetition(recorded, naming) }
            return after
        }
    }
}

extension Naming {
    /// What was said of a transaction, of which the chain was looked at. Whoever names no order for it, as Apple does, unsays no
    /// name.
    fileprivate func said(of recorded: RecordedTransaction, _ ordered: Set<TransactionID>) -> Naming {
        if order != nil, ordered.contains(recorded.id) { return self }
        var said = self
        (said.order, said.namer) = (recorded.order, recorded.customer)
        return said
    }

    fileprivate init(of recording: Recording, chains: Set<ChainKey>?) {
        self.init(
            order: recording.order,
            customerToken: recording.customerToken,
            source: recording.source,
            booksClosedAt: recording.booksClosedAt,
            chains: chains
        )
        namer = recording.customer
        isOfPurchase = recording.isOfPurchase
        isUndelivered = recording.isUndelivered
        presentedAt = recording.presentedAt
        exported = recording.exported
        exportedFact = exported.flatMap { row in recording.transactions.first { $0.id == row.transaction } }
    }
}
