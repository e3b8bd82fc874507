package import PurchaseModel
package import Storage

/// What has to be done now and then: orders whose time is over stop waiting; kept answers, and what was decided of proofs that
/// waited, are forgotten; what deleted endpoints were still to be sent is given up; what a clock put off that was ahead is due.
package struct Housekeeping: Sendable {
    /// How many rows one write changes: it holds up the next batch of purchases.
    static let batchMax = 200
    /// For how long the same request gets the same answer: a client's retries end long before.
    static let answersKept = Duration.seconds(48 * 3_600)
    /// What a clock that is kept right is set back by is less.
    static let setBackMin = Duration.seconds(5)

    private let store: any Store
    private let clock: any WallClock
    private let report: @Sendable (PipelineEvent) -> Void

    package init(
        store: any Store,
        clock: any WallClock,
        report: @escaping @Sendable (PipelineEvent) -> Void = { _ in }
    ) {
        self.store = store
        self.clock = clock
        self.report = report
    }

    /// Sweeps now, and after each pause, until there is no other pause.
    ///
    /// - Parameters:
    ///   - uptime: by a clock that nobody sets.
    ///   - pause: false when it was the last one.
    package func run(uptime: @Sendable () -> Duration, _ pause: @Sendable () async -> Bool) async {
        var last: Reading?
        repeat {
            last = await followClock(since: last, to: Reading(time: clock.now, uptime: uptime()))
            await sweep()
        } while await pause()
    }

    /// What two clocks showed at once.
    private struct Reading {
        var time: Timestamp
        var uptime: Duration
    }

    /// A machine may start hours ahead, until it hears what time it is. By then it has put off jobs and webhooks by as much.
    /// A store that several servers share goes by its database's clock and not by this machine's: there nothing was put off.
    ///
    /// - Parameters:
    ///   - last: of the sweep before; `nil` for the first one.
    ///   - reading: of this one.
    /// - Returns: what the next sweep compares with: `reading`; when the store fails, `last`.
    private func followClock(since last: Reading?, to reading: Reading) async -> Reading? {
        guard let last else { return reading }
        let expected = last.time.advanced(by: reading.uptime - last.uptime)
        let lead = reading.time.duration(to: expected)
        guard lead >= Self.setBackMin else { return reading }
        do throws(StoreFailure) {
            let hastened = try await store.write { transaction throws(StoreFailure) -> Int? in
                // No database's clock shows this.
                let (epoch, now) = (Timestamp(milliseconds: 0), reading.time)
                guard try transaction.storeTime(epoch) == epoch else { return nil }
                return try transaction.hastenAll(by: lead, at: now)
            }
            if let hastened { report(.clockSetBack(by: lead, hastened: hastened)) }
            return reading
        } catch {
            return last
        }
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
                try LedgerRequests.giveUp(endpoint, limit: Self.batchMax, at: now, in: transaction)
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
