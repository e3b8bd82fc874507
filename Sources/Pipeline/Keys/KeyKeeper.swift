package import PurchaseModel
package import Storage

/// Keeps the API keys that this server knows like those of the ledger, which other servers change too.
package struct KeyKeeper: Sendable {
    /// So long keys are good that cannot be read again: any of them may have been revoked since.
    package static let trust = Duration.seconds(30)

    private let ring: KeyRing
    private let store: any Store
    private let clock: any WallClock
    private let uptime: @Sendable () -> Duration

    /// - Parameters:
    ///   - ring: gets the keys.
    ///   - store: where they are.
    ///   - clock: says which have expired.
    ///   - uptime: since some moment, by a clock that nobody sets.
    package init(ring: KeyRing, store: any Store, clock: any WallClock, uptime: @escaping @Sendable () -> Duration) {
        self.ring = ring
        self.store = store
        self.clock = clock
        self.uptime = uptime
    }

    /// Reads the keys, and writes when each was used, now and after each pause, until there is no other pause. When the
    /// store fails, those that are known stay, for a while.
    package func run(_ pause: @Sendable () async -> Bool) async {
        var readAt = uptime()
        repeat {
            // Before it is asked: what is changed meanwhile may be missed.
            let now = uptime()
            if await read() { readAt = now }
            if uptime() - readAt >= Self.trust { ring.doubt() }
            await writeUses()
        } while await pause()
    }

    /// - Returns: false when they could not be read.
    @discardableResult
    package func read() async -> Bool { (try? await ring.reload(from: store, at: clock.now)) != nil }

    package func writeUses() async { try? await ring.writeUses(to: store) }
}
