package import PurchaseModel

extension RecordedSubscription {
    /// The same row with another period, end or version, whatever a rule would make of it.
    package func copy(current: TransactionID?, expiresAt: Timestamp?, version: Int64) -> RecordedSubscription {
        RecordedSubscription(
            chain: chain,
            current: current,
            renewal: renewal,
            product: product,
            group: group,
            expiresAt: expiresAt,
            graceEndsAt: graceEndsAt,
            willAutoRenew: willAutoRenew,
            state: state,
            since: since,
            nextLook: nextLook,
            lookedAt: lookedAt,
            version: version,
            ends: ends,
            isShared: isShared
        )
    }
}
