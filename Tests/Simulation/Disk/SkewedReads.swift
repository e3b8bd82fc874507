package import PurchaseModel
package import Storage

/// Reads as if another server committed something just before the question of a number.
package final class SkewedReads: PassingTransaction {
    private let place: Int
    private let commit: () throws(StoreFailure) -> Void
    private var asked = 0

    package var isSkewed: Bool { asked > place }

    package init(_ base: any StoreTransaction, before place: Int, _ commit: @escaping () throws(StoreFailure) -> Void) {
        self.place = place
        self.commit = commit
        super.init(base)
    }

    private func note() throws(StoreFailure) {
        if asked == place { try commit() }
        asked += 1
    }

    package override func transactions(_ keys: [TransactionKey]) throws(StoreFailure) -> [RecordedTransaction] {
        try note()
        return try base.transactions(keys)
    }

    package override func fulfilments(_ chains: [ChainKey]) throws(StoreFailure) -> [Fulfilment] {
        try note()
        return try base.fulfilments(chains)
    }

    package override func waitingFulfilments(
        for wish: WishKey,
        tokens: [AccountToken],
        limit: Int
    ) throws(StoreFailure) -> [Fulfilment] {
        try note()
        return try base.waitingFulfilments(for: wish, tokens: tokens, limit: limit)
    }

    package override func subscriptions(_ chains: [ChainKey]) throws(StoreFailure) -> [RecordedSubscription] {
        try note()
        return try base.subscriptions(chains)
    }

    package override func ownersAndVacancies(
        _ chains: [ChainKey]
    ) throws(StoreFailure) -> (owners: [Owner], vacancies: [Vacancy]) {
        try note()
        return try base.ownersAndVacancies(chains)
    }

    package override func owners(of tokens: [TokenKey]) throws(StoreFailure) -> [TokenOwner] {
        try note()
        return try base.owners(of: tokens)
    }

    package override func orders(_ keys: [OrderKey]) throws(StoreFailure) -> [Order] {
        try note()
        return try base.orders(keys)
    }

    package override func openOrders(tokens: [TokenKey]) throws(StoreFailure) -> [Order] {
        try note()
        return try base.openOrders(tokens: tokens)
    }

    package override func openOrders(wishes: [WishKey]) throws(StoreFailure) -> [Order] {
        try note()
        return try base.openOrders(wishes: wishes)
    }

    package override func wallets(_ keys: [WalletKey]) throws(StoreFailure) -> [Wallet] {
        try note()
        return try base.wallets(keys)
    }

    package override func lastEventSequences(_ streams: [StreamKey]) throws(StoreFailure) -> [StreamKey: Int64] {
        try note()
        return try base.lastEventSequences(streams)
    }
}
