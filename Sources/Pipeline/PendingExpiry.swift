package import PurchaseModel
package import Storage

/// Gives up what has waited too long for a decision, so that nothing holds one of an app's places for ever. What is sent
/// again after that waits again.
package struct PendingExpiry: Sendable {
    /// How many are given up in one write: it holds up the next batch of purchases.
    static let batchMax = 500

    private let pipeline: PurchasePipeline
    private let store: any Store
    private let apps: [AppPolicy]
    private let clock: any WallClock
    private let patience: Duration
    private let report: @Sendable (PipelineEvent) -> Void

    /// - Parameters:
    ///   - pipeline: whose places become free.
    ///   - store: where what waits is kept.
    ///   - apps: whose submissions they are.
    ///   - clock: tells what has waited too long.
    ///   - patience: how long each may wait.
    ///   - report: hears of what was given up.
    package init(
        pipeline: PurchasePipeline,
        store: any Store,
        apps: [AppPolicy],
        clock: any WallClock,
        patience: Duration,
        report: @escaping @Sendable (PipelineEvent) -> Void
    ) {
        self.pipeline = pipeline
        self.store = store
        self.apps = apps
        self.clock = clock
        self.patience = patience
        self.report = report
    }

    /// Sweeps now, and again after each pause; ends when one returns false.
    package func run(pause: @Sendable () async -> Bool) async {
        repeat { await sweep() } while await pause()
    }

    /// Gives up all that is overdue. When the store fails, the next sweep begins again; without anything overdue nothing
    /// is written.
    package func sweep() async {
        for app in apps { guard (try? await pipeline.recountPending(of: app.id)) != nil else { return } }
        while !Task.isCancelled {
            let now = clock.now
            let patience = patience
            let givenUp = try? await store.write { transaction throws(StoreFailure) in
                let givenUp = try transaction.giveUpPending(olderThan: patience, at: now, limit: Self.batchMax)
                try LedgerRequests.tell(givenUp, at: try transaction.storeTime(now), in: transaction)
                return givenUp.map(\.submission.app)
            }
            guard let givenUp else { return }
            for app in Set(givenUp).sorted() {
                try? await pipeline.recountPending(of: app)
                report(.gaveUp(app: app, submissions: givenUp.count { $0 == app }))
            }
            if givenUp.count < Self.batchMax { return }
        }
    }
}
