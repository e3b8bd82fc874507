package import PurchaseModel
package import Storage

/// What has to be done now and then: orders whose time is over stop waiting; kept answers, and what was decided of proofs that
/// waited, are forgotten; what deleted endpoints were still to be sent is given up.
package struct Housekeeping: Sendable {
    /// How many rows one write changes: it holds up the next batch of purchases.
    static let batchMax = 200
    /// For how long the same request gets the same answer: a client's retries end long before.
    static let answersKept = Duration.seconds(48 * 3_600)

    private let store: any Store
    private let clock: any WallClock

    package init(store: any Store, clock: any WallClock) {
        self.store = store
        self.clock = clock
    }

    /// Sweeps now, and after each pause, until there is no other pause.
    package func run(_ pause: @Sendable () async -> Bool) async {
        repeat { await sweep() } while await pause()
    }

    /// Does all that is due. When the store fails, the next sweep begins again; without anything due nothing is written.
    package func sweep() async {
        await inBatches { transaction, now throws(StoreFailure) in
            try LedgerRequests.expireOrders(limit: Self.batchMax, at: now, in: transaction)
        }
        await inBatches { transaction, now throws(StoreFailure) in
            try transaction.sweepAnswers(olderThan: Self.answersKept, at: now, limit: Self.batchMax)
        }
        await inBatches { transaction, now throws(StoreFailure) in
            try transaction.forgetSettled(olderThan: Settlement.keptFor, at: now, limit: Self.batchMax)
        }
        await buryWhatNobodyWaitsFor()
    }

    /// Whoever deleted an endpoint gave up no more than one write takes, and an event may have been on its way to it.
    private func buryWhatNobodyWaitsFor() async {
        let deleted = try? await store.read { reader throws(StoreFailure) in
            try reader.endpointsToBury(limit: DueEndpoint.limitMax)
        }
        for endpoint in deleted ?? [] {
            await inBatches { transaction, now throws(StoreFailure) in
                try transaction.buryDeliveries(
                    endpoint: endpoint,
                    because: DeliveryOutcome.deletedReason,
                    at: now,
                    limit: Self.batchMax
                )
            }
        }
    }

    /// Does one thing until there is less of it than a write takes, or the store fails.
    private func inBatches(
        _ body: @escaping @Sendable (any StoreTransaction, Timestamp) throws(StoreFailure) -> Int
    ) async {
        while !Task.isCancelled {
            let now = clock.now
            let count = try? await store.write { transaction throws(StoreFailure) in try body(transaction, now) }
            guard let count, count == Self.batchMax else { return }
        }
    }
}
