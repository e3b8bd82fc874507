/// What some proofs say of one chain, all together: who may come to have it by them, and what was bought in it.
///
/// A chain has a handful of products, so that this is a handful of questions for each customer, however many proofs there
/// are of it.
struct Gathering {
    /// Of one app, and so the same whoever brings what.
    let terms: AppTerms
    private(set) var customers: Set<CustomerID> = []
    private(set) var products: Set<ProductID> = []
    /// Whether Apple says what comes next: then what was given before may be decided about again.
    private(set) var isRenewed = false

    private init(_ terms: AppTerms) { self.terms = terms }

    /// Goes through proofs once.
    ///
    /// - Parameters:
    ///   - recordings: in the order in which they are decided.
    ///   - first: what is known of their transactions, their chains and their tokens.
    /// - Returns: one for each chain that any of them is about.
    static func all(in recordings: [Recording], after first: Situation) -> [ChainKey: Gathering] {
        var found: [ChainKey: Gathering] = [:]
        // Of what is new the first proof says in which chain it stands, whatever later ones say.
        var named: [TransactionKey: ChainKey] = [:]
        var tokens = SignedTokens(recordings, first)
        for recording in recordings {
            for (transaction, key) in zip(recording.transactions, recording.keys) where named[key] == nil {
                named[key] = first.fulfilment(of: key)?.chain ?? recording.chain(of: transaction)
            }
            let claimed = recording.claimedChains(first, named)
            for (transaction, key) in zip(recording.transactions, recording.keys) {
                let said = recording.chain(of: transaction)
                let stands = named[key] ?? said
                let token = newestToken(of: transaction, after: first[key]?.transaction)
                // Of two copies in one proof the poorer may name no chain: it may come to stand in either.
                for chain in stands == said ? [stands] : [stands, said] {
                    let presenter = claimed?.contains(chain) == false ? nil : recording.customer
                    let meant = tokens.customers(of: token, in: chain)
                    let customers = [first.owner(of: chain)?.customer, presenter] + meant
                    found[chain, default: Gathering(recording.terms)].note(customers, transaction.product)
                }
            }
            for renewal in recording.renewals {
                let chain = recording.chain(of: renewal)
                let owner = first.owner(of: chain)?.customer
                found[chain, default: Gathering(recording.terms)].note([owner], renewal.product)
                found[chain]?.isRenewed = true
            }
        }
        // Whoever has a chain comes to have the one that goes on with it.
        let links = first.links(of: recordings)
        for _ in 0..<min(links.count, ChainKey.movesMax) {
            for link in links {
                guard let terms = (found[link.before] ?? found[link.after])?.terms else { continue }
                let customers = [first.owner(of: link.before)?.customer].compactMap(\.self)
                let all = (found[link.before]?.customers ?? []).union(customers)
                found[link.after, default: Gathering(terms)].customers.formUnion(all)
            }
        }
        return found
    }

    private mutating func note(_ customers: [CustomerID?], _ product: ProductID) {
        for case let customer? in customers { self.customers.insert(customer) }
        products.insert(product)
    }
}

extension Recording {
    /// The chains that alone are the customer's; `nil` for all.
    fileprivate func claimedChains(_ known: Situation, _ named: [TransactionKey: ChainKey]) -> Set<ChainKey>? {
        guard let claimed else { return nil }
        let key = TransactionKey(app: app, realm: realm, id: claimed)
        return Set([known.fulfilment(of: key)?.chain ?? named[key]].compactMap(\.self))
    }
}

/// For whom Apple signed what some proofs tell of.
private struct SignedTokens {
    private let known: Situation
    /// Whose a token is once any of these proofs names it: it is made of the name of who presents them.
    private let own: [TokenKey: CustomerID]
    private var ofChains: [ChainKey: AccountToken?] = [:]

    init(_ recordings: [Recording], _ known: Situation) {
        self.known = known
        own = recordings.reduce(into: [:]) { own, recording in
            guard let token = recording.customerToken else { return }
            own[TokenKey(app: recording.app, token: token)] = recording.customer
        }
    }

    /// Who may be meant by what a proof names, or by what its chain does.
    mutating func customers(of token: AccountToken?, in chain: ChainKey) -> [CustomerID?] {
        [token, signed(chain)].compactMap(\.self).flatMap { token in
            let key = TokenKey(app: chain.app, token: token)
            return [known.customer(of: key), own[key]]
        }
    }

    private mutating func signed(_ chain: ChainKey) -> AccountToken? {
        guard !known.fulfilments(of: chain).isEmpty else { return nil }
        if let known = ofChains[chain] { return known }
        let token = known.signedToken(of: chain)?.token
        ofChains[chain] = .some(token)
        return token
    }
}
