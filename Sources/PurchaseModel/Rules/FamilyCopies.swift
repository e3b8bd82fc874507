// A family member's copy of what the shop gives to no family. Receipts do not tell that it is one; but each member has chains of
// her own, and what Apple has said of one number of a chain tells of those of which it has said nothing.

/// What Apple has said of whose the numbers of a chain are.
struct ChainOwnership: Sendable {
    private let said: [RecordedTransaction]

    /// - Parameter numbers: of one chain, in any order, also those of which nothing was said.
    init(_ numbers: some Sequence<RecordedTransaction>) {
        said = numbers.filter { $0.ownership != nil }
            .sorted { ($0.purchasedAt.seconds, $0.id) < ($1.purchasedAt.seconds, $1.id) }
    }

    /// Whether a number is a copy of which nothing was said: as the last one before it of which it was, or the first after it;
    /// `nil` where nothing was said of any.
    func isCopy(_ recorded: RecordedTransaction) -> Bool? {
        let nearest = said.last { $0.purchasedAt.seconds <= recorded.purchasedAt.seconds } ?? said.first
        return nearest.map { $0.ownership == .familyShared }
    }
}

extension Draft {
    /// Notes the chains of whose numbers a proof says anew whose they are. The rest of those was looked up, where any is a copy.
    mutating func noteOwnership() {
        for recorded in decision.changes.map(\.recorded) where recorded.ownership != nil {
            if recorded.ownership != known[recorded.key]?.ownership { ownershipNews.insert(chain(of: recorded)) }
        }
    }

    /// The numbers in the proof of which Apple has said whose they are, by chain: once for all, as there may be as many chains as
    /// numbers.
    private mutating func ownedInProof(of chain: ChainKey) -> [RecordedTransaction] {
        if ownedInProof == nil {
            let owned = decision.outcomes.map(\.recorded).filter { $0.ownership != nil }
            ownedInProof = Dictionary(grouping: owned) { self.chain(of: $0) }
        }
        return ownedInProof?[chain] ?? []
    }

    /// Whether it is a family member's copy.
    ///
    /// - Parameters:
    ///   - recorded: the transaction.
    ///   - row: how it stands. What was taken back as one stays so until something new is said of its chain: beside what was
    ///     given, that was not looked up.
    /// - Returns: by what Apple has said of it, or of the others of its chain.
    mutating func isFamilyCopy(_ recorded: RecordedTransaction, _ row: Fulfilment?) -> Bool {
        if let own = recorded.ownership { return own == .familyShared }
        let chain = chain(of: recorded)
        if row?.isTakenAsCopy == true, !ownershipNews.contains(chain) { return true }
        let found = ownerships[chain] ?? ChainOwnership(numbersByNow(of: chain))
        ownerships.set(found, for: chain)
        return found.isCopy(recorded) ?? false
    }

    /// Whether what was given is a family member's copy of what goes to no family: that was not known when it was given. What was
    /// given to a copy that was known as one stays, whatever the shop gives to families by now; and so does what it sells no
    /// more, which may have been for families then.
    mutating func isGivenToCopy(_ row: Fulfilment, _ recorded: RecordedTransaction) -> Bool {
        let product = terms.products?[row.product]
        let mayBeCopy = product?.isFamilyShared != true
        if row.reason == .familyShared {
            // It may have been given by another number since.
            return mayBeCopy && isFamilyCopy(recorded, row) || isGivenBeside(row)
        }
        let isSold = product != nil || terms.products == nil
        guard mayBeCopy, isSold, ownershipNews.contains(row.chain) else { return false }
        return isFamilyCopy(recorded, row) && !wasFamilyCopy(recorded)
    }

    /// Whether it was known to be a copy before this proof.
    private mutating func wasFamilyCopy(_ recorded: RecordedTransaction) -> Bool {
        if let own = known[recorded.key]?.ownership { return own == .familyShared }
        let chain = chain(of: recorded)
        let found = ownershipsBefore[chain] ?? ChainOwnership(known.numbers(of: chain))
        ownershipsBefore.set(found, for: chain)
        return found.isCopy(recorded) ?? false
    }

    /// The numbers of a chain with what this proof says of them.
    private mutating func numbersByNow(of chain: ChainKey) -> [RecordedTransaction] {
        let owned = ownedInProof(of: chain)
        let said = Set(owned.map(\.key))
        return known.numbers(of: chain).filter { !said.contains($0.key) } + owned
    }

    private func isGivenBeside(_ row: Fulfilment) -> Bool {
        row.unitsHeld.flatMap { holders(of: $0, in: row.chain) }.contains { other in
            other.transaction != row.transaction && other.state != .reversed
        }
    }

    /// Settles what was given in the chains of which a proof says anew whose they are, and what was withheld there as a copy.
    ///
    /// - Parameter naming: on which occasion.
    mutating func settleCopies(_ naming: Naming) {
        let told = decision.outcomes.map(\.recorded).filter { $0.ownership == .familyShared }.map { chain(of: $0) }
        let chains = ownershipNews.filter { chain in
            told.contains(chain) || fulfilments(of: chain).values.contains { $0.reason == .familyShared }
        }
        for chain in chains.sorted(by: { $0.precedes($1) }) {
            let rows = fulfilments(of: chain).values.filter { $0.unit != nil || $0.reason == .familyShared }
            for row in rows.sorted(by: { $0.transaction.id < $1.transaction.id }) {
                guard let recorded = recorded(row.transaction) else { continue }
                settle(recorded, naming.of(chain).named(by: recorded))
            }
            // What seemed to repeat a copy was bought.
            guard fulfilments(of: chain).values.contains(where: \.isTakenAsCopy) else { continue }
            reconsiderRepetitions(in: chain, naming)
        }
    }
}

extension Fulfilment {
    /// Whether it was given, and taken back as it turned out to be a family member's copy.
    package var isTakenAsCopy: Bool { state == .reversed && reason == .familyShared }

    /// Whether nothing was given, as it is one. It may turn out to be bought.
    var isWithheldAsCopy: Bool { state == .withheld && reason == .familyShared }
}

extension Situation {
    /// All of the chains that hold a family member's copy, or may, of which some proofs say anew whose they are.
    func besideCopies(in recordings: [Recording]) -> Set<TransactionKey> {
        var (told, copies): (Set<ChainKey>, Set<ChainKey>) = ([], [])
        for recording in recordings {
            for (transaction, key) in zip(recording.transactions, recording.keys) {
                guard let ownership = transaction.ownership, ownership != self[key]?.ownership else { continue }
                let chain = chain(of: transaction, key, in: recording)
                if ownership == .familyShared { copies.insert(chain) } else { told.insert(chain) }
            }
        }
        var found: Set<TransactionKey> = []
        for chain in copies.union(told) {
            let rows = fulfilments(of: chain).values
            let isWanted = copies.contains(chain) || rows.contains { $0.reason == .familyShared }
            if isWanted { found.formUnion(rows.map(\.transaction)) }
        }
        return found
    }
}
