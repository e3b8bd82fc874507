// A subscription that Apple goes on with under another original transaction, as when it is moved to Advanced Commerce: the
// transactions after it name the chain before. It stays whose it was.
extension Draft {
    /// Notes which chains a proof says to go on from others, before any of it is claimed.
    mutating func noteMoves(of recording: Recording) {
        for move in recording.moves {
            predecessors.set(move.previous, for: known.chain(of: move.transaction, move.key, in: recording))
        }
    }

    /// The chain that one goes on from.
    func predecessor(of chain: ChainKey) -> ChainKey? {
        (predecessors[chain] ?? known.predecessor(of: chain)).map { chain.beside($0) }
    }

    /// The chain that goes on with one.
    func successor(of chain: ChainKey) -> ChainKey? {
        (owner(of: chain)?.successor ?? vacancy(of: chain)?.successor).map { chain.beside($0) }
    }

    /// The chains that one goes on from, the nearest first: it may have been moved more than once.
    func predecessors(of chain: ChainKey) -> [ChainKey] { line(from: chain, isBack: true) }

    /// The chains that go on with one, the nearest first.
    func successors(of chain: ChainKey) -> [ChainKey] { line(from: chain, isBack: false) }

    /// Without a closure, which would copy the whole draft: nearly every chain stands alone.
    private func line(from chain: ChainKey, isBack: Bool) -> [ChainKey] {
        var line: [ChainKey] = []
        while line.count < ChainKey.movesMax {
            let last = line.last ?? chain
            guard let found = isBack ? predecessor(of: last) : successor(of: last) else { break }
            if found == chain || line.contains(found) { break }
            line.append(found)
        }
        return line
    }

    /// Makes a chain that is nobody's whoever's has the one that it goes on from, unless Apple signed it for somebody else.
    ///
    /// - Returns: the owner; `nil` where nobody is known.
    mutating func inherit(_ chain: ChainKey, from before: ChainKey? = nil, signedFor signed: CustomerID?) -> Owner? {
        guard let before = before ?? predecessor(of: chain), let prior = owner(of: before),
            signed == nil || signed == prior.customer
        else { return nil }
        // What is given there is given to its owner, who is asked about then; nobody asks about who shares it.
        let sharers = prior.sharers.filter { delivers(from: chain.realm, to: $0) }
        put(
            Owner(
                chain: chain,
                customer: prior.customer,
                sharers: sharers,
                since: now,
                isSettled: prior.isSettled || hasGrants(before)
            )
        )
        return owner(of: chain)
    }

    /// Leaves word with each chain before of the one that goes on with it, and hands what goes on with a chain to whom that has
    /// come to be: whichever of them we heard of first.
    mutating func handOn(_ recording: Recording) {
        for move in recording.moves {
            let chain = known.chain(of: move.transaction, move.key, in: recording)
            guard let before = predecessor(of: chain) else { continue }
            handOn(chain, from: before)
            leaveWord(of: chain.original, with: before)
        }
        var (seen, moves) = (0, 0)
        while seen < decision.owners.count, moves < ChainKey.movesMax {
            let rows = decision.owners[seen...].map(\.row)
            (seen, moves) = (decision.owners.count, moves + 1)
            for row in rows {
                guard let next = row.successor else { continue }
                handOn(row.chain.beside(next), from: row.chain)
            }
        }
    }

    private mutating func handOn(_ chain: ChainKey, from before: ChainKey) {
        guard owner(of: chain) == nil else { return }
        let token = signedToken(of: chain).map { TokenKey(app: chain.app, token: $0) }
        let signed = token.flatMap { customer(of: $0) }
        if inherit(chain, from: before, signedFor: signed) != nil { handedOn.append(chain) }
    }

    /// Settles what goes on with a chain in which an order has settled something: whoever has the old one by it has the new one
    /// at once, and what was given there lets the new one go on without an order.
    ///
    /// - Parameters:
    ///   - chain: the old one.
    ///   - previous: whose it was before. What is only that customer's because the old one was goes with it.
    ///   - naming: on which occasion.
    mutating func settleNext(after chain: ChainKey, whoseWas previous: CustomerID?, _ naming: Naming) {
        var last = chain
        for next in successors(of: chain) {
            guard let owner = owner(of: last) else { return }
            // What waits there may not say it itself.
            predecessors.set(last.original, for: next)
            handOn(next, from: last)
            if let holder = self.owner(of: next), holder.customer == previous, previous != owner.customer {
                let token = signedToken(of: next)
                let signed = token.flatMap { customer(of: TokenKey(app: next.app, token: $0)) }
                if isUnsettled(holder, against: token), signed == nil || signed == owner.customer {
                    transfer(holder, to: owner.customer)
                }
            }
            guard self.owner(of: next)?.customer == owner.customer else { return }
            settleRest(of: next, naming)
            last = next
        }
    }

    /// The chains that one goes on from, as far as all are the same customer's, or were until one of them changed hands: what
    /// another one has paid for goes on for nobody else.
    func ownPredecessors(of chain: ChainKey) -> [ChainKey] {
        guard let owner = owner(of: chain) else { return predecessors(of: chain) }
        let own = [owner.customer, owner.previous].compactMap(\.self)
        return Array(
            predecessors(of: chain).prefix { before in
                guard let prior = self.owner(of: before) else { return false }
                return own.contains(prior.customer) || prior.previous.map { own.contains($0) } ?? false
            }
        )
    }

    /// The chains that go on with one, as far as all are the same customer's.
    func ownSuccessors(of chain: ChainKey) -> [ChainKey] {
        let customer = owner(of: chain)?.customer
        return Array(successors(of: chain).prefix { owner(of: $0)?.customer == customer })
    }

    /// Whether the subscription is in force in a chain that one goes on from, or runs there and waits.
    func goesOnInForce(_ chain: ChainKey) -> Bool {
        predecessors(of: chain).contains { isInForce($0) || isNewestAwaited(in: $0) }
    }

    /// What was given of a paid period in the chains before, or after: it was paid once, and these amounts were given for it.
    func currenciesGiven(beside recorded: RecordedTransaction) -> Set<CurrencyID> {
        guard isPaidPeriod(recorded.transaction) else { return [] }
        let chain = chain(of: recorded)
        var found: Set<CurrencyID> = []
        for other in predecessors(of: chain) + successors(of: chain) {
            for row in fulfilments(of: other).values where wasGiven(row, for: recorded.transaction) {
                // What another system has delivered, amounts among it, is not told.
                let goods = row.isImported ? self.goods(of: recorded.transaction) ?? [] : row.goods
                for case .amount(let amount) in goods { found.insert(amount.currency) }
            }
        }
        return found
    }

    /// Whether something was given for just this paid period, also if it was taken back since: the money for it is back, too.
    private func wasGiven(_ row: Fulfilment, for period: Transaction) -> Bool {
        guard row.isGiven || row.isImported else { return false }
        if let end = row.reversedAt, end < period.purchasedAt { return false }
        if row.isOfPeriod(period) { return true }
        guard let end = period.expiresAt, let known = self.recorded(row.transaction)?.transaction.expiresAt else {
            return false
        }
        return known.seconds == end.seconds
    }

    // MARK: Figures

    /// What follows for the two chains of each move that a proof is about, by all periods of both.
    ///
    /// - Parameters:
    ///   - chains: what the proof is about.
    ///   - fresh: the periods that it brings.
    ///   - ends: what is said of the ends of their periods.
    /// - Returns: the chains of which this says something new.
    func noteMoves(
        among chains: [ChainKey],
        _ fresh: [ChainKey: [RecordedTransaction]],
        in ends: inout [ChainKey: PeriodEnds]
    ) -> [ChainKey] {
        var found: [ChainKey] = []
        for chain in chains {
            for (before, after) in [(predecessor(of: chain), chain), (chain, successor(of: chain))] {
                guard let before, let after, let move = Move(periods(of: before, fresh), periods(of: after, fresh))
                else {
                    continue
                }
                let (old, new) = (ends[before] ?? endsKnown(of: before), ends[after] ?? endsKnown(of: after))
                var (left, entered) = (old, new)
                left.move = PeriodEnds.Move(to: after.original, at: move.at)
                entered.origin = PeriodEnds.Origin(from: before.original, repeated: move.repeated)
                if left != old { found.append(before) }
                if entered != new { found.append(after) }
                (ends[before], ends[after]) = (left, entered)
            }
        }
        return found
    }

    private func endsKnown(of chain: ChainKey) -> PeriodEnds { known.subscription(of: chain)?.ends ?? PeriodEnds() }

    private func periods(of chain: ChainKey, _ fresh: [ChainKey: [RecordedTransaction]]) -> [Transaction] {
        var all = known.transactions(of: chain, with: [])
        for recorded in fresh[chain] ?? [] { all[recorded.id] = recorded.transaction }
        return all.values.filter(\.isSubscriptionPeriod)
    }
}

/// When one chain went on with another one.
private struct Move {
    let at: Timestamp
    /// When the first period of the new chain began, where it is the one that ran in the old one.
    let repeated: Timestamp?

    init?(_ old: [Transaction], _ new: [Transaction]) {
        guard let first = new.min(by: { ($0.purchasedAt, $0.id) < ($1.purchasedAt, $1.id) }) else { return nil }
        let isRepeated = old.contains { period in
            period.purchasedAt.seconds == first.purchasedAt.seconds
                || period.expiresAt != nil && period.expiresAt?.seconds == first.expiresAt?.seconds
        }
        at = isRepeated ? first.expiresAt ?? first.purchasedAt : first.purchasedAt
        repeated = isRepeated ? first.purchasedAt : nil
    }
}

extension Situation {
    /// The chains that go on from those around, and that those go on from: as good as always none.
    package var kin: Inquiry {
        var inquiry = Inquiry()
        for link in links { inquiry.chains.formUnion([link.before, link.after]) }
        inquiry.subscriptions = inquiry.chains
        return inquiry
    }
}

extension ChainKey {
    /// How often a subscription may be moved: Apple tells of one reason to.
    package static let movesMax = 8

    /// Another one of the same app, on the same side of the wall.
    func beside(_ original: TransactionID) -> ChainKey { ChainKey(app: app, realm: realm, original: original) }
}

extension Fulfilment {
    /// Whether what was given was given for this paid period: it began or ends with it.
    fileprivate func isOfPeriod(_ transaction: Transaction) -> Bool {
        if purchasedAt.seconds == transaction.purchasedAt.seconds { return true }
        guard let unit = unit?.base, let end = transaction.expiresAt else { return false }
        return unit.isOfPeriod(until: end)
    }
}
