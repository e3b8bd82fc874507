import AppStore
package import Jobs
package import PurchaseModel
package import Storage
import Synchronization
import Verification

/// The job that compares what Apple says to have sent with what arrived, for one app and store, and fetches what is
/// missing. It never ends: it is due again.
package struct NotificationComparison: Job, Hashable {
    package static let kind = "notifications.compare"

    package let app: AppID
    package let store: StoreEnvironment

    package init(app: AppID, store: StoreEnvironment) {
        self.app = app
        self.store = store
    }

    package init?(payload: [UInt8]) {
        let parts = payload.split(separator: UInt8(ascii: " "), maxSplits: 1).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard parts.count == 2, let app = AppID(parts[1]),
            let store = StoreEnvironment.known.first(where: { $0.rawValue == parts[0] })
        else { return nil }
        self.init(app: app, store: store)
    }

    package var payload: [UInt8] { Array(name.utf8) }

    package var key: String? { name }

    private var name: String { "\(store) \(app)" }
}

extension JobReader {
    /// Whether a server asks Apple about an app by a key, or has done so not long ago: without the key its comparison goes on
    /// until Apple's history has gone past it.
    func isAskedAbout(
        _ app: AppID,
        in stores: [StoreEnvironment] = StoreEnvironment.known
    ) throws(StoreFailure) -> Bool {
        let keys = stores.compactMap { NotificationComparison(app: app, store: $0).key }
        return try !openJobs(kind: NotificationComparison.kind, keys: keys).isEmpty
    }
}

/// Finds what was missed, whatever it was missed for: we were away, the address was wrong, Apple gave up.
package struct NotificationComparer: Sendable {
    package static let schedule = RetrySchedule(first: .seconds(60), longest: .seconds(3_600), attemptsMax: .max)
    /// How often: what is missed is late by no more.
    private static let interval = Duration.seconds(3_600)
    /// What was signed a moment ago may still be on its way to us.
    private static let margin = Duration.seconds(600)
    /// How far back Apple's history goes, and a little less.
    static func depth(of store: StoreEnvironment) -> Duration {
        .seconds((store == .production ? 179 : 29) * 86_400)
    }

    private let windows = ComparisonWindows()
    private let fetch: NotificationFetch
    private let store: any Store
    private let queue: JobQueue
    private let accounts: [AppID: AppleAccount]
    private let clock: any WallClock
    private let report: @Sendable (PipelineEvent) -> Void

    package init(
        intake: NotificationIntake,
        store: any Store,
        queue: JobQueue,
        accounts: [AppID: AppleAccount],
        clock: any WallClock,
        report: @escaping @Sendable (PipelineEvent) -> Void
    ) {
        fetch = NotificationFetch(intake: intake)
        self.store = store
        self.queue = queue
        self.accounts = accounts
        self.clock = clock
        self.report = report
    }

    package var handler: JobHandler {
        JobHandler(NotificationComparison.self, schedule: Self.schedule) { job, run in await compare(job, run) }
    }

    private func compare(_ job: NotificationComparison, _ run: JobRun) async -> JobOutcome {
        guard let account = accounts[job.app], account.askableStores.contains(job.store) else {
            return await withoutKey(job, run)
        }
        let realm = Realm(environment: job.store, isTestSigned: account.isTest)
        let now = clock.now
        do {
            let (known, storeNow) = try await store.read { reader throws(StoreFailure) in
                (try reader.notificationWatch(app: job.app, realm: realm), try reader.storeTime(now))
            }
            let oldest = now.advanced(by: .zero - Self.depth(of: job.store))
            let watch: NotificationWatch
            if let known { watch = known } else { watch = try await begin(job.app, realm, at: now) }
            // By the clock that all servers share: one that is behind must not have the others begin again.
            guard watch.comparedUntil <= storeNow else { return try await pullBack(watch, to: storeNow) }
            let start = max(watch.comparedUntil, oldest)
            let end = min(now.advanced(by: .zero - Self.margin), start.advanced(by: windows.length(for: job)))
            guard start < end else { return .again(after: Self.interval, because: "nothing is old enough") }
            let figures = try await fetch.fetch(from: start, until: end, in: job.store, account)
            // Apple lets a stretch end at its own present, whatever ours is.
            let answeredAt = figures.answeredAt ?? now
            guard start < answeredAt else { return try await pullBack(watch, to: answeredAt) }
            let present = answeredAt.advanced(by: .zero - Self.margin)
            guard start < present else { return .again(after: Self.interval, because: "nothing is old enough") }
            try await note(figures, from: start, until: min(end, present), after: watch)
            windows.lengthen(for: job)
            let isBehind = end < present && end.advanced(by: Self.margin + Self.interval) < now
            return .again(after: isBehind ? .seconds(1) : Self.interval, because: "compared")
        } catch let failure as AppStoreFailure {
            windows.shorten(for: job)
            return AppleTrouble.outcome(of: failure, at: now) ?? .again(after: Self.interval, because: "\(failure)")
        } catch {
            return .failed(because: "the store: \(error)")
        }
    }

    /// Another server may have the app's key, or this one gets it back. Once Apple's history has gone past what was compared,
    /// whoever took it out of the configuration wants no more of it.
    private func withoutKey(_ job: NotificationComparison, _ run: JobRun) async -> JobOutcome {
        do throws(StoreFailure) {
            let watches = try await store.read { reader throws(StoreFailure) in
                var found: [NotificationWatch] = []
                for isTest in [false, true] {
                    let realm = Realm(environment: job.store, isTestSigned: isTest)
                    if let watch = try reader.notificationWatch(app: job.app, realm: realm) { found.append(watch) }
                }
                return found
            }
            let last = watches.map(\.comparedUntil).reduce(run.due, max)
            guard last.duration(to: clock.now) < Self.depth(of: job.store) else { return .done }
            return .again(after: Self.interval, because: AppleTrouble.noKey)
        } catch {
            return .failed(because: "the store: \(error)")
        }
    }

    /// Begins earlier: what was compared until a moment that has not come yet was compared by a clock that was ahead, and
    /// what that has passed over is looked at again.
    private func pullBack(_ watch: NotificationWatch, to moment: Timestamp) async throws(StoreFailure) -> JobOutcome {
        try await store.write { transaction throws(StoreFailure) in
            var next = watch
            let beginning = try Self.beginning(of: watch.app, in: transaction, at: moment)
            next.goBack(to: max(beginning, moment.advanced(by: .zero - ComparisonWindows.longest)))
            try transaction.noteWatch(next)
        }
        return .again(after: Self.interval, because: "a clock was ahead")
    }

    /// What could not be taken in is read again, beside all that follows: it must not hold that up.
    private func note(
        _ figures: NotificationFetch.Figures,
        from start: Timestamp,
        until end: Timestamp,
        after known: NotificationWatch
    ) async throws(StoreFailure) {
        var watch = known
        watch.goOn(to: end, sent: figures.sent, arrived: figures.arrived, recovered: figures.recovered)
        let (next, queue) = (watch, queue)
        try await store.write { transaction throws(StoreFailure) in
            try transaction.noteWatch(next)
            guard figures.untaken > 0 else { return }
            let reading = NotificationReading(app: next.app, store: next.realm.environment, from: start, until: end)
            let due = clock.now.advanced(by: NotificationRetry.interval)
            try queue.enqueue(NotificationRetry(reading), due: due, in: transaction)
        }
        report(.compared(app: watch.app, sent: figures.sent, recovered: figures.recovered))
    }

    /// Notes from where on notifications are this ledger's: since its first event of the app, or from now on. What Apple
    /// told before, another system was told, which has delivered it.
    private func begin(
        _ app: AppID,
        _ realm: Realm,
        at now: Timestamp
    ) async throws(StoreFailure) -> NotificationWatch {
        try await store.write { transaction throws(StoreFailure) in
            let watch = NotificationWatch(
                app: app,
                realm: realm,
                comparedUntil: try Self.beginning(of: app, in: transaction, at: now),
                version: 1
            )
            try transaction.noteWatch(watch)
            return watch
        }
    }

    private static func beginning(
        of app: AppID,
        in transaction: any StoreTransaction,
        at now: Timestamp
    ) throws(StoreFailure) -> Timestamp {
        let page = try transaction.events(app: app, after: .start, where: .everything, limit: 1)
        let first = page.events.first { _ in true }?.event.learnedAt
        return min(first ?? now, now).advanced(by: .zero - interval)
    }
}

/// How much time one look covers, by how the looks before it ended: what is cut off again and again, since Apple has sent
/// so much, comes through in parts.
private final class ComparisonWindows: Sendable {
    static let longest = Duration.seconds(7 * 86_400)
    private static let halvingsMax = 8

    private let halvings = Mutex<[NotificationComparison: Int]>([:])

    func length(for job: NotificationComparison) -> Duration {
        Self.longest / (1 << halvings.withLock { $0[job, default: 0] })
    }

    func shorten(for job: NotificationComparison) {
        halvings.withLock { $0[job] = min($0[job, default: 0] + 1, Self.halvingsMax) }
    }

    func lengthen(for job: NotificationComparison) {
        halvings.withLock { $0[job] = max($0[job, default: 0] - 1, 0) }
    }
}
