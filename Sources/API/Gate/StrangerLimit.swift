import HTTP
import PurchaseModel
import Synchronization

/// How often an address may show keys that are none. Who has a good one is never held up by strangers behind the same
/// proxy: keys are too long to be guessed, and this only ends the trying. One that another server has just made counts as
/// a stranger's until it is known here.
final class StrangerLimit: Sendable {
    /// Ten a second: a misspelt key is noticed long before.
    static let attemptsMax = 600
    static let window = Duration.seconds(60)
    /// Beyond so many addresses those whose minute is over are forgotten, and then all: a flood from everywhere must not fill
    /// the memory, and is not held up by this.
    static let addressesMax = 8_192

    private struct Count {
        var attempts: Int
        var since: Timestamp
    }

    private let clock: any WallClock
    private let counts = Mutex<[[UInt8]: Count]>([:])

    init(clock: any WallClock) { self.clock = clock }

    /// Notes one more; how long to wait when there were too many. Who came through no socket is nobody to be held up.
    func note(_ remote: HTTPRemote) -> Duration? {
        guard !remote.address.isEmpty else { return nil }
        let address = remote.network
        let now = clock.now
        return counts.withLock { counts in
            if counts.count >= Self.addressesMax, counts[address] == nil {
                counts = counts.filter { $0.value.since.duration(to: now) < Self.window }
                if counts.count >= Self.addressesMax { counts = [:] }
            }
            var count = counts[address] ?? Count(attempts: 0, since: now)
            let passed = count.since.duration(to: now)
            if passed >= Self.window || passed < .zero { count = Count(attempts: 0, since: now) }
            count.attempts += 1
            counts[address] = count
            return count.attempts > Self.attemptsMax ? Self.window - count.since.duration(to: now) : nil
        }
    }
}
