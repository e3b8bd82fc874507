import PurchaseModel
import Storage
import Synchronization

/// Counts the undecided submissions of each app and their bytes, so that both have a bound: they are stored, and whoever
/// holds a key could send any number of them.
final class PendingRoom: Sendable {
    /// That of one submission.
    struct Place: Sendable {
        let app: AppID
        let bytes: Int
        /// How often what waits had been counted by then.
        fileprivate let counts: Int
    }

    private struct Load {
        var load: PendingLoad
        /// How often it was counted.
        var counts: Int
    }

    private let max: PendingLoad
    /// None for an app that was not asked for yet.
    private let loads = Mutex<[AppID: Load]>([:])
    /// When each was counted anew because there was no room.
    private let recounts = Mutex<[AppID: Timestamp]>([:])
    /// What waits is counted at the cost of a query, and whoever is refused may come again at once.
    private static let recountPause = Duration.seconds(5)

    init(max: PendingLoad) {
        self.max = max
    }

    /// Takes a place for one more. ``giveBack(_:)`` returns it when it was not needed.
    ///
    /// - Parameters:
    ///   - bytes: its size.
    ///   - app: whose it is.
    ///   - store: where what waits already is kept.
    /// - Returns: `nil` when there is no room for it; then none was taken.
    /// - Throws: `StoreFailure` when what waits could not be counted.
    func take(_ bytes: Int, of app: AppID, in store: some Store) async throws(StoreFailure) -> Place? {
        try await load(app, from: store)
        return loads.withLock { loads in
            var known = loads[app] ?? Load(load: PendingLoad(), counts: 0)
            guard known.load.submissions < max.submissions, known.load.bytes + bytes <= max.bytes else { return nil }
            known.load.submissions += 1
            known.load.bytes += bytes
            loads[app] = known
            return Place(app: app, bytes: bytes, counts: known.counts)
        }
    }

    /// The place of one that waits, as of now.
    func place(_ bytes: Int, of app: AppID) -> Place {
        Place(app: app, bytes: bytes, counts: loads.withLock { $0[app]?.counts ?? 0 })
    }

    /// Counts what waits already, if nobody did.
    func load(_ app: AppID, from store: some Store) async throws(StoreFailure) {
        guard loads.withLock({ $0[app] == nil }) else { return }
        let load = try await Self.load(app, in: store)
        // Whoever else counted meanwhile has gone on from there.
        loads.withLock { loads in if loads[app] == nil { loads[app] = Load(load: load, counts: 1) } }
    }

    /// Counts what waits again: other servers settle what this one has kept, and many are given up at once. What is being kept
    /// meanwhile may be missed, until the next time.
    func recount(_ app: AppID, from store: some Store) async throws(StoreFailure) {
        let load = try await Self.load(app, in: store)
        loads.withLock { loads in loads[app] = Load(load: load, counts: (loads[app]?.counts ?? 0) + 1) }
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

    /// A place is free again: what was sent was known, could not be kept, or waits no more. If all were counted since, it may
    /// have been counted as free, and stays taken until the next time: too few are let in rather than too many.
    func giveBack(_ place: Place) {
        loads.withLock { loads in
            guard let known = loads[place.app], known.counts == place.counts else { return }
            loads[place.app]?.load = PendingLoad(
                submissions: Swift.max(known.load.submissions - 1, 0),
                bytes: Swift.max(known.load.bytes - place.bytes, 0)
            )
        }
    }
}
