import PurchaseModel
import Synchronization

/// A token bucket for each key's holder: so many requests a second, and as many again in a burst.
final class RateLimit: Sendable {
    private struct Bucket {
        /// Thousandths of a request.
        var tokens: Int64
        var filledAt: Timestamp
    }

    private let perSecond: Int64
    private let clock: any WallClock
    private let buckets = Mutex<[KeyRing.Holder: Bucket]>([:])

    /// - Parameters:
    ///   - perSecond: 0 for no limit.
    ///   - clock: what fills the buckets.
    init(perSecond: Int, clock: any WallClock) {
        self.perSecond = Int64(clamping: perSecond)
        self.clock = clock
    }

    /// Takes one request from the holder's bucket; `nil` when it may go, otherwise how long to wait.
    func take(_ holder: KeyRing.Holder) -> Duration? {
        guard perSecond > 0 else { return nil }
        let now = clock.now
        let full = perSecond * 1_000
        return buckets.withLock { buckets in
            var bucket = buckets[holder] ?? Bucket(tokens: full, filledAt: now)
            // Milliseconds times requests a second are thousandths of a request. A clock that went back adds nothing.
            let passed = min(max(now.milliseconds - bucket.filledAt.milliseconds, 0), 1_000)
            bucket.tokens = min(full, bucket.tokens + passed * perSecond)
            bucket.filledAt = now
            defer { buckets[holder] = bucket }
            guard bucket.tokens >= 1_000 else {
                return .milliseconds((1_000 - bucket.tokens + perSecond - 1) / perSecond)
            }
            bucket.tokens -= 1_000
            return nil
        }
    }
}
