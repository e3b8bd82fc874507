import PurchaseModel
import Storage
import Synchronization

/// Counts the undecided submissions of each app and their bytes, so that both have a bound: they are stored, and whoever
/// holds a key could send any number of them.
final class PendingRoom: Sendable {
    private let max: PendingLoad
    /// None for an app that was not asked for yet.
    private let loads = Mutex<[AppID: PendingLoad]>([:])
    /// When each was counted anew because there was no room.
    private let recounts = Mutex<[AppID: Timestamp]>([:])
    /// What waits is counted at the cost of a query, and whoever is refused may come again at once.
    private static let recountPause = Duration.seconds(5)

    init(max: PendingLoad) {
        self.max = max
    }

    /// Takes a place for one more. ``giveBack(_:of:)`` returns it when it was not needed.
    ///
    /// - Parameters:
    ///   - bytes: its size.
    ///   - app: whose it is.
    ///   - store: where what waits already is kept.
    /// - Returns: false when there is no room for it; then none was taken.
    /// - Throws: `StoreFailure` when what waits could not be counted.
    func take(_ bytes: Int, of app: AppID, in store: some Store) async throws(StoreFailure) -> Bool {
        try await load(app, from: store)
        return loads.withLock { loads in
            var load = loads[app] ?? PendingLoad()
            guard load.submissions < max.submissions, load.bytes + bytes <= max.bytes else { return false }
            load.submissions += 1
            load.bytes += bytes
            loads[app] = load
            return true
        }
    }

    /// Counts what waits already, if nobody did.
    func load(_ app: AppID, from store: some Store) async throws(StoreFailure) {
        guard loads.withLock({ $0[app] == nil }) else { return }
        let load = try await Self.load(app, in: store)
        // Whoever else counted meanwhile has gone on from there.
        loads.withLock { loads in if loads[app] == nil { loads[app] = load } }
    }

    /// Counts what waits again: other servers settle what this one has kept, and many are given up at once. What is being kept
    /// meanwhile may be missed, until the next time.
    func recount(_ app: AppID, from store: some Store) async throws(StoreFailure) {
        let load = try await Self.load(app, in: store)
        loads.withLock { $0[app] = load }
    }

    /// Counts again where a place was refused, so that it is not for what another server has settled.
    ///
    /// - Returns: false when that was tried a moment ago.
    func recountOnceInAWhile(_ app: AppID, from store: some Store, at now: Timestamp) async throws(StoreFailure) -> Bool
    {
        let isDue = recounts.withLock { recounts in
            if let last = recounts[app], last <= now, last.duration(to: now) < Self.recountPause { return false }
            recounts[app] = now
            return true
        }
        if isDue { try await recount(app, from: store) }
        return isDue
    }

    private static func load(_ app: AppID, in store: some Store) async throws(StoreFailure) -> PendingLoad {
        try await store.read { reader throws(StoreFailure) in try reader.pendingLoad(app: app) }
    }

    /// A place is free again: what was sent was known, could not be kept, or waits no more.
    func giveBack(_ bytes: Int, of app: AppID) {
        loads.withLock { loads in
            guard let load = loads[app] else { return }
            loads[app] = PendingLoad(
                submissions: Swift.max(load.submissions - 1, 0),
                bytes: Swift.max(load.bytes - bytes, 0)
            )
        }
    }
}
