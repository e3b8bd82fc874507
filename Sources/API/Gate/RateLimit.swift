import HTTP
import Pipeline
import PurchaseModel
import Synchronization

/// A token bucket for each key's holder: so many requests a second, and as many again in a burst.
final class RateLimit: Sendable {
    /// What one request was given.
    struct Ticket: Sendable {
        /// `nil` when it may go, otherwise how long to wait.
        let wait: Duration?
        /// How many more may come at once; `nil` for no limit.
        let remaining: Int64?
        fileprivate let perSecond: Int64

        /// Tells the client how it stands: draft-ietf-httpapi-ratelimit-headers-10.
        func mark(_ response: HTTPResponse) -> HTTPResponse {
            guard let remaining else { return response }
            var response = response
            response.fields["RateLimit-Policy"] = "\"key\";q=\(perSecond);w=1"
            response.fields["RateLimit"] = "\"key\";r=\(remaining);t=1"
            return response
        }
    }

    private struct Bucket {
        /// Thousandths of a request.
        var tokens: Int64
        var filledAt: Timestamp
    }

    /// Keys come and go: beyond so many the buckets that are full again are forgotten, which changes nothing for them.
    static let bucketsMax = 4_096

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

    /// Takes one request from the holder's bucket.
    func take(_ holder: KeyRing.Holder) -> Ticket {
        guard perSecond > 0 else { return Ticket(wait: nil, remaining: nil, perSecond: 0) }
        let now = clock.now
        let full = perSecond * 1_000
        return buckets.withLock { buckets in
            if buckets.count >= Self.bucketsMax, buckets[holder] == nil {
                // Within a second each is full again.
                buckets = buckets.filter { now.milliseconds - $0.value.filledAt.milliseconds < 1_000 }
            }
            var bucket = buckets[holder] ?? Bucket(tokens: full, filledAt: now)
            // Milliseconds times requests a second are thousandths of a request. A clock that went back adds nothing.
            let passed = min(max(now.milliseconds - bucket.filledAt.milliseconds, 0), 1_000)
            bucket.tokens = min(full, bucket.tokens + passed * perSecond)
            bucket.filledAt = now
            defer { buckets[holder] = bucket }
            guard bucket.tokens >= 1_000 else {
                let wait = Duration.milliseconds((1_000 - bucket.tokens + perSecond - 1) / perSecond)
                return Ticket(wait: wait, remaining: 0, perSecond: perSecond)
            }
            bucket.tokens -= 1_000
            return Ticket(wait: nil, remaining: bucket.tokens / 1_000, perSecond: perSecond)
        }
    }
}
