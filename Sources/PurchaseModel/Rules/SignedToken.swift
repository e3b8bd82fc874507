/// For whom Apple signed something of a chain: of what was bought last counts.
package struct SignedToken {
    package let token: AccountToken
    private let purchasedAt: Timestamp
    private let id: TransactionID

    init(_ token: AccountToken, of transaction: Transaction) {
        self.token = token
        (purchasedAt, id) = (transaction.purchasedAt, transaction.id)
    }

    fileprivate init(_ token: AccountToken, of row: Fulfilment) {
        self.token = token
        (purchasedAt, id) = (row.purchasedAt, row.transaction.id)
    }

    fileprivate func isBefore(_ other: SignedToken) -> Bool {
        (purchasedAt, id) < (other.purchasedAt, other.id)
    }

    /// That of the later one; of one and the same the second.
    static func last(_ one: SignedToken?, _ other: SignedToken?) -> SignedToken? {
        guard let one, let other else { return one ?? other }
        return other.isBefore(one) ? one : other
    }
}

extension Situation {
    /// What Apple signed for a chain last, as far as it was decided about.
    package func signedToken(of chain: ChainKey) -> SignedToken? {
        var last: SignedToken?
        for row in fulfilments(of: chain).values {
            if let token = row.accountToken { last = SignedToken.last(last, SignedToken(token, of: row)) }
        }
        return last
    }

    /// The tokens that were signed for the chains of some proofs, which may name another one, or none. Those that were not
    /// asked about yet.
    package func tokens(beside recordings: [Recording]) -> Set<TokenKey> {
        var found: Set<ChainKey> = []
        for recording in recordings {
            for (transaction, key) in zip(recording.transactions, recording.keys) {
                found.insert(fulfilment(of: key)?.chain ?? recording.chain(of: transaction))
            }
        }
        let tokens = found.compactMap { chain in
            signedToken(of: chain).map { TokenKey(app: chain.app, token: $0.token) }
        }
        return Set(tokens).subtracting(asked.tokens)
    }
}

extension Draft {
    /// Notes what a proof names anew, before any of it is claimed: one number of a chain may name whose another one is.
    mutating func noteTokens(of recording: Recording) {
        for (transaction, key) in zip(recording.transactions, recording.keys) {
            let before = known[key]
            guard let token = newestToken(of: transaction, after: before?.transaction) else { continue }
            let chain = before.map { self.chain(of: $0) } ?? recording.chain(of: transaction)
            if known.fulfilments(of: chain)[transaction.id]?.accountToken == token { continue }
            let signed = SignedToken(token, of: transaction)
            told.change(chain, from: signed) { told in told = SignedToken.last(told, signed) ?? signed }
        }
    }

    /// The account token that Apple signed for a chain last, by what is known and what is told now.
    mutating func signedToken(of chain: ChainKey) -> AccountToken? {
        // Most chains have one number, or none yet.
        let rows = known.fulfilments(of: chain)
        if told.isEmpty, rows.count <= 1 { return rows.first?.value.accountToken }
        if let found = signedTokens[chain] { return found }
        let token = SignedToken.last(known.signedToken(of: chain), told[chain])?.token
        signedTokens.set(token, for: chain)
        return token
    }
}
