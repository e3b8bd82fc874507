package import Storage

/// The pipeline's bounds.
package struct PipelineLimits: Hashable, Sendable {
    /// How many submissions of one app may wait for a decision, and how large they may be together: they are stored, and
    /// whoever holds a key could send any number of them.
    package var pendingPerApp: PendingLoad
    /// How many of one customer may: hers must leave room for the others'.
    package var pendingPerCustomer: Int
    /// How long each may wait: what nobody decides must not hold a place for ever.
    package var pendingFor: Duration
    /// What a sender is told when that many wait already.
    package var retryAfterFull: Duration

    package init(
        pendingPerApp: PendingLoad = PendingLoad(submissions: 10_000, bytes: 1 << 30),
        pendingPerCustomer: Int = 50,
        pendingFor: Duration = .seconds(30 * 86_400),
        retryAfterFull: Duration = .seconds(300)
    ) {
        self.pendingPerApp = pendingPerApp
        self.pendingPerCustomer = pendingPerCustomer
        self.pendingFor = pendingFor
        self.retryAfterFull = retryAfterFull
    }
}
