import Pipeline
import PurchaseModel
import Storage

/// Keeps the API keys that this server knows like those of the ledger, which other servers change too.
struct KeyKeeper: Sendable {
    let ring: KeyRing
    let store: any Store
    let clock: any WallClock

    /// So often in turn the keys may not be readable. Then any of them may have been revoked since.
    private static let failuresMax = 6

    /// Reads the keys, and writes when each was used, now and after each pause, until there is no other pause. When the
    /// store fails, those that are known stay, for a while.
    func run(_ pause: @Sendable () async -> Bool) async {
        var failures = 0
        repeat {
            failures = await read() ? 0 : failures + 1
            if failures >= Self.failuresMax { ring.doubt() }
            await writeUses()
        } while await pause()
    }

    /// - Returns: false when they could not be read.
    @discardableResult
    func read() async -> Bool {
        do {
            try await ring.reload(from: store, at: clock.now)
            return true
        } catch {
            return false
        }
    }

    func writeUses() async { try? await ring.writeUses(to: store) }
}
