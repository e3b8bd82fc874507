import Storage

/// How much a worker takes on, and for how long.
package struct JobLimits: Hashable, Sendable {
    /// How many jobs run at once.
    package var concurrency: Int
    /// For how long jobs are claimed; a third of it later the claim is renewed.
    package var lease: Duration
    /// How often the store is asked when nothing happens.
    package var idle: Duration
    /// How long running jobs may go on once the worker is to stop.
    package var patience: Duration
    /// A job whose leases ran out so often in a row is given up: each time its process ended, or hung.
    package var lostLeasesMax: Int

    package init(
        concurrency: Int,
        lease: Duration = LeaseTerms.durationMax,
        idle: Duration = .seconds(1),
        patience: Duration = .seconds(10),
        lostLeasesMax: Int = 3
    ) {
        self.concurrency = max(concurrency, 1)
        self.lease = min(lease, LeaseTerms.durationMax)
        self.idle = idle
        self.patience = patience
        self.lostLeasesMax = max(lostLeasesMax, 1)
    }
}
