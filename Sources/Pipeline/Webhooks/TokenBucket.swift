package import PurchaseModel

/// How many calls may begin: so many a second on average, and at most one second's worth at once.
package struct TokenBucket: Sendable, Equatable {
    /// In thousandths of a token.
    private var level: Int64
    private var perSecond: Int64
    private var filledAt: Timestamp

    /// Full at first.
    package init(perSecond: Int, at now: Timestamp) {
        self.perSecond = Int64(max(1, min(perSecond, 1_000_000)))
        level = self.perSecond * 1_000
        filledAt = now
    }

    /// How many may begin now.
    package mutating func count(at now: Timestamp) -> Int {
        fill(at: now)
        return Int(level / 1_000)
    }

    /// Counts those that began.
    package mutating func take(_ count: Int) {
        level -= Int64(count) * 1_000
    }

    /// Another rate from now on; what is in the bucket stays, as far as there is room.
    package mutating func setRate(_ perSecond: Int, at now: Timestamp) {
        fill(at: now)
        self.perSecond = Int64(max(1, min(perSecond, 1_000_000)))
        level = min(level, self.perSecond * 1_000)
    }

    private mutating func fill(at now: Timestamp) {
        // A clock that goes back fills nothing and takes nothing.
        let elapsed = max(0, min(now.milliseconds - filledAt.milliseconds, 1_000_000))
        level = min(level + elapsed * perSecond, perSecond * 1_000)
        filledAt = now
    }
}
