import PurchaseModel
import Storage

/// How a subscription stands follows from its recorded periods, and from the word on its renewal that stands with it.
struct SubscriptionRebuild {
    let now: Timestamp
    let reader: any StoreReader

    /// The chains of some fulfilments, in their order, each once.
    static func chains(of page: [Fulfilment], after last: ChainKey?) -> [ChainKey] {
        var (chains, last) = ([ChainKey](), last)
        for row in page where row.chain != last {
            chains.append(row.chain)
            last = row.chain
        }
        return chains
    }

    /// What differs of some chains; one that cannot be read is left.
    func differences(_ chains: [ChainKey]) throws(StoreFailure) -> [LedgerDifference] {
        var found: [LedgerDifference] = []
        for chain in chains {
            if let difference = try difference(chain) { found.append(difference) }
        }
        return found
    }

    /// - Returns: `nil` when nothing does.
    func difference(_ chain: ChainKey) throws(StoreFailure) -> LedgerDifference? {
        do throws(StoreFailure) {
            // First: its version vouches for the rest.
            let stored = try reader.subscriptions([chain]).first
            let transactions = try reader.transactions(try reader.fulfilments([chain]).map(\.transaction))
            return rebuild(chain, from: transactions, stored: stored, at: now).map { rebuilt in
                .subscription(stored: stored, rebuilt: rebuilt)
            }
        } catch .broken {
            return .leftSubscription(chain, why: "a row around it cannot be read")
        }
    }
}
