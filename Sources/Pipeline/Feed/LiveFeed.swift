package import PurchaseModel
package import Storage
import Synchronization

/// The feeds of all apps as they grow, for any number of followers at the price of one.
///
/// One reader asks the store what is new, after a commit of this process and every now and then, for others may write to
/// the same database; and only of apps that somebody follows. All who are near the end are given what it read.
package final class LiveFeed: Sendable {
    private struct App {
        var followers = 0
        /// Made by the reader when somebody follows.
        var tail: FeedTail?
        var waiting: [UInt64: Waiter] = [:]

        func hasMore(than cursor: EventCursor) -> Bool {
            tail.map { $0.end > cursor } ?? false
        }
    }

    private struct Waiter {
        let cursor: EventCursor
        let until: Duration
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var apps: [AppID: App] = [:]
        var lastWaiter: UInt64 = 0
    }

    /// Since some moment; the time of day would not do, because it is set now and then.
    package let uptime: @Sendable () -> Duration
    private let store: any Store
    private let report: @Sendable (StoreFailure) -> Void
    private let state = Mutex(State())
    private let bell = Bell()

    /// - Parameters:
    ///   - store: what is followed.
    ///   - uptime: tells who has waited long enough.
    ///   - report: hears when the store could not be read. Followers wait on.
    package init(
        store: any Store,
        uptime: @escaping @Sendable () -> Duration,
        report: @escaping @Sendable (StoreFailure) -> Void
    ) {
        self.store = store
        self.uptime = uptime
        self.report = report
    }

    /// Reads what is new until the task is cancelled, or `wait` says false.
    ///
    /// - Parameter wait: until it is time to look again for what others wrote; nobody's patience is measured finer.
    package func run(wait: @escaping @Sendable () async -> Bool) async {
        let rings = bell.rings()
        await withDiscardingTaskGroup { group in
            group.addTask { [self] in
                while await wait() { wake() }
                bell.finish()
            }
            for await _ in rings {
                await readNew()
                release()
            }
            group.cancelAll()
        }
    }

    /// Has it look now: something was committed.
    package func wake() {
        bell.ring()
    }

    /// Follows an app's feed from a place on, as long as what is returned lives.
    package func follow(_ app: AppID, after cursor: EventCursor, where filter: EventFilter) -> FeedFollower {
        FeedFollower(self, app: app, after: cursor, where: filter)
    }

    // MARK: Reading

    /// Where each followed feed was read to; `nil` where nobody has yet.
    private func ends() -> [AppID: EventCursor?] {
        state.withLock { state in state.apps.mapValues { $0.tail?.end } }
    }

    private func readNew() async {
        var ends = ends()
        while !ends.isEmpty {
            do throws(StoreFailure) {
                let pages = try await store.read { [ends] reader throws(StoreFailure) in
                    var pages: [AppID: EventPage] = [:]
                    for (app, end) in ends { pages[app] = try Self.page(of: app, after: end, reader) }
                    return pages
                }
                for (app, page) in pages { put(page, after: ends[app] ?? nil, app) }
                ends = pages.filter(\.value.hasMore).mapValues { $0.next }
            } catch {
                return report(error)
            }
        }
    }

    private static func page(
        of app: AppID,
        after end: EventCursor?,
        _ reader: any StoreReader
    ) throws(StoreFailure) -> EventPage {
        // Who began to follow reads for himself until he is where this begins.
        guard let end else { return EventPage(next: try reader.lastEventCursor(app: app), hasMore: false) }
        return try reader.events(app: app, after: end, where: .everything, limit: EventPage.limitMax)
    }

    private func put(_ page: EventPage, after end: EventCursor?, _ app: AppID) {
        let new = page.events.map { FeedMessage($0) }
        state.withLock { state in
            // Everybody may have left since, and others come.
            guard let found = state.apps[app], found.tail?.end == end else { return }
            var tail = found.tail ?? FeedTail(at: page.next)
            tail.append(new, upTo: page.next)
            state.apps[app]?.tail = tail
        }
    }

    // MARK: Waiting

    /// Lets go whoever has something to read, or has waited long enough.
    private func release() {
        let now = uptime()
        let released = state.withLock { state in
            var released: [Waiter] = []
            for (app, found) in state.apps {
                for (id, waiter) in found.waiting where waiter.until <= now || found.hasMore(than: waiter.cursor) {
                    released.append(waiter)
                    state.apps[app]?.waiting[id] = nil
                }
            }
            return released
        }
        for waiter in released { waiter.continuation.resume() }
    }
}

// For its followers.
extension LiveFeed {
    func enter(_ app: AppID) {
        state.withLock { $0.apps[app, default: App()].followers += 1 }
    }

    func leave(_ app: AppID) {
        state.withLock { state in
            state.apps[app]?.followers -= 1
            if state.apps[app]?.followers == 0 { state.apps[app] = nil }
        }
    }

    /// The newest messages after a place, and how far they reach; `nil` when the store must be asked.
    func newest(_ app: AppID, after cursor: EventCursor) -> (messages: ArraySlice<FeedMessage>, end: EventCursor)? {
        state.withLock { state in
            guard let tail = state.apps[app]?.tail, let messages = tail.messages(after: cursor) else { return nil }
            return (messages, max(cursor, tail.end))
        }
    }

    func page(
        _ app: AppID,
        after cursor: EventCursor,
        where filter: EventFilter,
        limit: Int
    ) async throws(StoreFailure) -> EventPage {
        try await store.read { reader throws(StoreFailure) in
            try reader.events(app: app, after: cursor, where: filter, limit: limit)
        }
    }

    /// Waits until there is something after a place, until a moment, or until the task is cancelled.
    func wait(_ app: AppID, after cursor: EventCursor, until: Duration) async {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    // Under the lock: who lets go has either seen this one or not yet told the time that is told here.
                    guard !Task.isCancelled, uptime() < until, let found = state.apps[app],
                        !found.hasMore(than: cursor)
                    else { return false }
                    state.apps[app]?.waiting[id] = Waiter(cursor: cursor, until: until, continuation: continuation)
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            // Resumed outside the lock, which nobody holds while he resumes this task.
            let waiter = state.withLock { $0.apps[app]?.waiting.removeValue(forKey: id) }
            waiter?.continuation.resume()
        }
    }
}
