import PurchaseModel
import Storage
import Synchronization

/// Counts the undecided submissions of each app, so that their number has a bound: they are stored, and whoever holds a
/// key could send any number of them.
final class PendingRoom: Sendable {
    private let max: Int
    /// None for an app that was not asked for yet.
    private let counts = Mutex<[AppID: Int]>([:])

    init(max: Int) {
        self.max = max
    }

    /// Takes a place for one more. ``giveBack(_:of:)`` returns it when it was not needed.
    ///
    /// - Returns: false when all are taken; then none was taken.
    func take(_ app: AppID, in store: some Store) async throws(StoreFailure) -> Bool {
        try await load(app, from: store)
        return counts.withLock { counts in
            let count = counts[app] ?? 0
            guard count < max else { return false }
            counts[app] = count + 1
            return true
        }
    }

    /// Counts what waits already, if nobody did.
    func load(_ app: AppID, from store: some Store) async throws(StoreFailure) {
        guard counts.withLock({ $0[app] == nil }) else { return }
        let count = try await Self.count(app, in: store)
        // Whoever else counted meanwhile has gone on from there.
        counts.withLock { counts in if counts[app] == nil { counts[app] = count } }
    }

    /// Counts what waits again: other servers settle what this one has kept. What is being kept meanwhile may be missed,
    /// until the next time.
    func recount(_ app: AppID, from store: some Store) async throws(StoreFailure) {
        let count = try await Self.count(app, in: store)
        counts.withLock { $0[app] = count }
    }

    private static func count(_ app: AppID, in store: some Store) async throws(StoreFailure) -> Int {
        try await store.read { reader throws(StoreFailure) in try reader.pendingCount(app: app) }
    }

    /// Places are free again: what was sent was known, could not be kept, or waits no more.
    func giveBack(_ places: Int = 1, of app: AppID) {
        counts.withLock { counts in
            guard let count = counts[app] else { return }
            counts[app] = Swift.max(count - places, 0)
        }
    }
}
