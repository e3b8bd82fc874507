package import PurchaseModel
package import Storage

/// What has to be done now and then: orders whose time is over stop waiting; kept answers, and what was decided of proofs that
/// waited, are forgotten, and with it the dead letters that are about it; what deleted endpoints were still to be sent is given
/// up; what a clock put off that was ahead is due; sign-ins that were refused long ago leave the audit log.
package struct Housekeeping: Sendable {
    /// How many rows one write changes: it holds up the next batch of purchases.
    static let batchMax = 200
    /// How many rows one write looks at of what a wrong clock may have put off: a few milliseconds.
    package static let hastenedMax = 1_000
    /// How many batches of the audit log one sweep goes through, from where the one before has ended.
    static let auditBatchesMax = 10
    /// For how long the same request gets the same answer: a client's retries end long before.
    static let answersKept = Duration.seconds(48 * 3_600)
    /// For how long a refused sign-in stands in the audit log: whoever wants to know who guessed passwords asks within a year.
    static let refusedSignInsKept = Duration.seconds(365 * 86_400)
    /// What a clock that is kept right is set back by is less.
    static let setBackMin = Duration.seconds(5)

    private let store: any Store
    private let clock: any WallClock
    private let report: @Sendable (PipelineEvent) -> Void

    /// Where the next sweep goes on, of what one alone does not look through.
    package struct Places: Hashable, Sendable {
        /// `nil` to begin with the first that died.
        var deadLetters: DeadLetterCursor?
        /// In the audit log.
        var audit: Int64 = 0

        package init() {}
    }

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
        var setBacks: [SetBack] = []
        var places = Places()
        repeat {
            let reading = Reading(time: clock.now, uptime: uptime())
            if let lead = last.flatMap({ Self.lead(of: $0, over: reading) }) { setBacks.append(SetBack(lead: lead)) }
            last = reading
            setBacks = await bringForward(setBacks)
            places = await sweep(from: places)
        } while await pause()
    }

    /// What two clocks showed at once.
    private struct Reading {
        var time: Timestamp
        var uptime: Duration
    }

    /// A clock that was set back, and how far what it had put off is brought forward.
    private struct SetBack {
        let lead: Duration
        var place = HastePlace.start
        var hastened = 0
    }

    /// By how much a clock was set back between two readings; `nil` where it was not.
    private static func lead(of last: Reading, over reading: Reading) -> Duration? {
        let lead = reading.time.duration(to: last.time.advanced(by: reading.uptime - last.uptime))
        return lead >= setBackMin ? lead : nil
    }

    /// A machine may start hours ahead, until it hears what time it is. By then it has put off jobs and webhooks by as much,
    /// and taken subscriptions for over. A store that several servers share goes by its database's clock and not by this
    /// machine's: there nothing was put off.
    ///
    /// One write after the other, with others' in between: a million rows take seconds. A process that ends in between leaves
    /// the rest as it was put off, as one does that ends before it has seen that the clock was set back.
    ///
    /// - Parameter setBacks: the earliest first: each moves by its own lead, and moves all of it once.
    /// - Returns: what is left of them when the store fails, for the next sweep.
    private func bringForward(_ setBacks: [SetBack]) async -> [SetBack] {
        var left = setBacks
        while var setBack = left.first, !Task.isCancelled {
            // What the right clock has looked at or leased since the step before is not moved by this one.
            let (lead, place) = (ClockLead(setBack.lead, at: clock.now), setBack.place)
            do throws(StoreFailure) {
                let step = try await store.write { transaction throws(StoreFailure) -> HasteStep? in
                    // No database's clock shows this.
                    let epoch = Timestamp(milliseconds: 0)
                    guard try transaction.storeTime(epoch) == epoch else { return nil }
                    return try transaction.hasten(by: lead, from: place, limit: Self.hastenedMax)
                }
                guard let step else { return [] }
                setBack.hastened += step.hastened
                if let next = step.next {
                    setBack.place = next
                    left[0] = setBack
                } else {
                    report(.clockSetBack(by: setBack.lead, hastened: setBack.hastened))
                    left.removeFirst()
                }
            } catch {
                return left
            }
        }
        return left
    }

    /// Does all that is due. When the store fails, the next sweep begins again; without anything due nothing is written.
    ///
    /// - Parameter places: what the sweep before returned; the first one begins at the beginnings.
    /// - Returns: where the next one is to go on.
    @discardableResult
    package func sweep(from places: Places = Places()) async -> Places {
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
        var next = places
        next.deadLetters = await forgetWhatIsGone(after: places.deadLetters)
        next.audit = await forgetRefusedSignIns(after: places.audit)
        return next
    }

    /// A proof that was given up is forgotten after a month; the job that died over it would be counted for ever, and neither
    /// listed nor run again. One page a sweep: what else is dead stays, and is looked at in turn.
    ///
    /// - Returns: where the next sweep goes on; from the beginning, behind the last one.
    private func forgetWhatIsGone(after place: DeadLetterCursor?) async -> DeadLetterCursor? {
        let found = try? await store.read { reader throws(StoreFailure) in
            let page = try reader.deadLetters(after: place, limit: Self.batchMax)
            return (gone: try GoneSubject.ids(among: page.jobs, in: reader), next: page.next)
        }
        guard let found else { return place }
        if found.gone.isEmpty { return found.next }
        // The same proof may be kept anew since: it has another job then, and this one is none the less over.
        let count = try? await store.write { transaction throws(StoreFailure) in
            try transaction.forgetDeadJobs(found.gone)
        }
        return count == nil ? place : found.next
    }

    private func forgetRefusedSignIns(after start: Int64) async -> Int64 {
        var place = start
        for _ in 0..<Self.auditBatchesMax where !Task.isCancelled {
            let (from, now) = (place, clock.now)
            let next = try? await store.write { transaction throws(StoreFailure) in
                try transaction.sweepRefusedSignIns(
                    olderThan: Self.refusedSignInsKept,
                    at: now,
                    after: from,
                    limit: Self.batchMax
                )
            }
            guard let next, next > from else { break }
            place = next
        }
        return place
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
