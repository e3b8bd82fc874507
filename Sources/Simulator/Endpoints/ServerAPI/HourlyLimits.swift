import PurchaseModel
import Synchronization

/// Counts requests in each hour. Apple's limits are written by the second and kept by the hour.
///
/// Source: Apple, *Identifying rate limits*.
final class HourlyLimits: Sendable {
    struct Bucket: Hashable, Sendable {
        let app: BundleID
        let environment: StoreEnvironment
        let endpoint: String
    }

    private struct Count {
        var hour: Int64
        var requests: Int
    }

    private let counts = Mutex<[Bucket: Count]>([:])

    /// Counts one request; when it is one too many, the moment from which the next may come.
    func take(_ bucket: Bucket, perSecond: Int, at now: Timestamp) -> Timestamp? {
        let hour = now.milliseconds / Self.hourMilliseconds
        let most = perSecond * 3_600 / (bucket.environment == .production ? 1 : 10)
        return counts.withLock { counts in
            var count = counts[bucket] ?? Count(hour: hour, requests: 0)
            if count.hour != hour { count = Count(hour: hour, requests: 0) }
            guard count.requests < most else {
                return Timestamp(milliseconds: (hour + 1) * Self.hourMilliseconds)
            }
            count.requests += 1
            counts[bucket] = count
            return nil
        }
    }

    private static let hourMilliseconds: Int64 = 3_600_000
}
