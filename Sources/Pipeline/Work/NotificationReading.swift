import AppStore
package import Jobs
package import PurchaseModel
import Storage

/// The job that reads once more what Apple sent within some time, whatever was compared before: after a restore the ledger
/// may be without what it had.
package struct NotificationReading: Job, Hashable {
    package static let kind = "notifications.read"
    /// How much time one job covers: so that each ends within what the budget lets through at once.
    package static let windowMax = Duration.seconds(3_600)

    package let app: AppID
    package let store: StoreEnvironment
    package let start: Timestamp
    package let end: Timestamp

    package init(app: AppID, store: StoreEnvironment, from start: Timestamp, until end: Timestamp) {
        self.app = app
        self.store = store
        self.start = start
        self.end = end
    }

    package init?(payload: [UInt8]) {
        let parts = payload.split(separator: UInt8(ascii: " "), maxSplits: 3).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard parts.count == 4, let app = AppID(parts[3]), let start = Int64(parts[1]), let end = Int64(parts[2]),
            let store = StoreEnvironment.known.first(where: { $0.rawValue == parts[0] })
        else { return nil }
        self.init(
            app: app,
            store: store,
            from: Timestamp(milliseconds: start),
            until: Timestamp(milliseconds: end)
        )
    }

    package var payload: [UInt8] { Array(name.utf8) }

    package var key: String? { name }

    private var name: String { "\(store) \(start.milliseconds) \(end.milliseconds) \(app)" }
}

/// The job that reads once more what a comparison or a reading could not take in: a setting was wrong, a certificate of
/// Apple's is not known here, or the key was not. It comes again and again, ever later, until nothing is left or Apple has
/// forgotten it.
package struct NotificationRetry: Job, Hashable {
    package static let kind = "notifications.retry"
    /// How long it waits at first, and at most.
    static let (interval, longest) = (Duration.seconds(6 * 3_600), Duration.seconds(7 * 86_400))

    package let reading: NotificationReading

    package init(_ reading: NotificationReading) {
        self.reading = reading
    }

    package init?(payload: [UInt8]) {
        guard let reading = NotificationReading(payload: payload) else { return nil }
        self.init(reading)
    }

    package var payload: [UInt8] { reading.payload }
    package var key: String? { reading.key }

    /// What stays behind for long is asked for ever more seldom: each stretch of time that has any has a job of its own, and
    /// all share the calls with what Apple has just sent.
    func wait(at now: Timestamp) -> Duration {
        min(max(reading.end.duration(to: now) / 2, Self.interval), Self.longest)
    }
}

/// Reads what Apple sent.
package struct NotificationReader: Sendable {
    package static let schedule = RetrySchedule(first: .seconds(10), longest: .seconds(3_600), attemptsMax: .max)

    private let fetch: NotificationFetch
    private let queue: JobQueue
    private let accounts: [AppID: AppleAccount]
    private let clock: any WallClock
    private let report: @Sendable (PipelineEvent) -> Void

    package init(
        intake: NotificationIntake,
        queue: JobQueue,
        accounts: [AppID: AppleAccount],
        clock: any WallClock,
        report: @escaping @Sendable (PipelineEvent) -> Void
    ) {
        fetch = NotificationFetch(intake: intake)
        self.queue = queue
        self.accounts = accounts
        self.clock = clock
        self.report = report
    }

    package var handlers: [JobHandler] {
        [
            JobHandler(NotificationReading.self, schedule: Self.schedule) { job, _ in
                await read(job) { figures throws(StoreFailure) in
                    // Without a key, too: nothing else knows of this stretch.
                    if figures.map({ $0.untaken > 0 }) ?? true { try await readAgain(job) }
                    return .done
                }
            },
            JobHandler(NotificationRetry.self, schedule: Self.schedule) { job, _ in
                await read(job.reading) { figures in
                    // Another server may have the key, or this one gets it back.
                    guard let figures else {
                        return .again(after: NotificationRetry.interval, because: AppleTrouble.noKey)
                    }
                    guard figures.untaken > 0 else { return .done }
                    let reason = "\(figures.untaken) notifications could not be taken in"
                    return .again(after: job.wait(at: clock.now), because: reason)
                }
            },
        ]
    }

    /// No comparison comes back to what was compared once.
    private func readAgain(_ job: NotificationReading) async throws(StoreFailure) {
        try await queue.enqueue(NotificationRetry(job), due: clock.now.advanced(by: NotificationRetry.interval))
    }

    /// - Parameters:
    ///   - job: what to read.
    ///   - ending: what follows from what was found; from `nil` where this server has no key.
    /// - Returns: how the run ended.
    private func read(
        _ job: NotificationReading,
        _ ending: (NotificationFetch.Figures?) async throws(StoreFailure) -> JobOutcome
    ) async -> JobOutcome {
        let now = clock.now
        // Apple has forgotten what is older; a job may have waited long.
        let start = max(job.start, now.advanced(by: .zero - NotificationComparer.depth(of: job.store)))
        guard start < job.end else { return .done }
        do {
            guard let account = accounts[job.app], account.askableStores.contains(job.store) else {
                return try await ending(nil)
            }
            let figures = try await fetch.fetch(from: start, until: job.end, in: job.store, account)
            // Of what was fetched before it was told then.
            report(.compared(app: job.app, sent: figures.sent, recovered: figures.new))
            return try await ending(figures)
        } catch let failure as AppStoreFailure {
            return AppleTrouble.outcome(of: failure, at: now) ?? .never(because: "Apple: \(failure)")
        } catch {
            return .failed(because: "the store: \(error)")
        }
    }
}
