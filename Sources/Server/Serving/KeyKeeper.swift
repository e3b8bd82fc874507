import Pipeline
import PurchaseModel
import Storage

/// Keeps the API keys that this server knows like those of the ledger, which other servers change too.
struct KeyKeeper: Sendable {
    let ring: KeyRing
    let store: any Store
    let clock: any WallClock

    /// Reads the keys, and writes when each was used, now and after each pause, until there is no other pause. When the
    /// store fails, those that are known stay.
    func run(_ pause: @Sendable () async -> Bool) async {
        repeat {
            await read()
            await writeUses()
        } while await pause()
    }

    func read() async { try? await ring.reload(from: store, at: clock.now) }

    func writeUses() async { try? await ring.writeUses(to: store) }
}
