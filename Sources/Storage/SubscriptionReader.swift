package import PurchaseModel

/// The questions about how subscriptions stand.
package protocol SubscriptionReader {
    /// The recorded ones among these, in no order.
    func subscriptions(_ chains: [ChainKey]) throws(StoreFailure) -> [RecordedSubscription]

    /// Those whose next look is due, of all apps, the longest due first; the limit is brought between 1 and
    /// `RecordedSubscription.listedMax`.
    func dueSubscriptions(at now: Timestamp, limit: Int) throws(StoreFailure) -> [RecordedSubscription]

    /// The same of one app. It passes over what is due of others: no index goes by both.
    func dueSubscriptions(of app: AppID, at now: Timestamp, limit: Int) throws(StoreFailure) -> [RecordedSubscription]
}

extension RecordedSubscription {
    /// The most that are listed at once.
    package static let listedMax = 500
}

extension StoreReader {
    /// What is known around subscriptions that are to be looked at.
    package func situation(lookingAt chains: [ChainKey]) throws(StoreFailure) -> Situation {
        var situation = Situation()
        var first = Inquiry()
        first.chains = Set(chains)
        first.subscriptions = Set(chains)
        try answer(first, in: &situation)
        for recorded in try transactions(chains.compactMap { situation.subscription(of: $0)?.currentKey }) {
            situation.note(recorded)
        }
        var second = Inquiry()
        for chain in chains {
            let owner = situation.owner(of: chain)?.customer
            second.customers.insert(StreamKey(app: chain.app, realm: chain.realm, customer: owner))
        }
        try answer(second, in: &situation)
        return situation
    }
}
