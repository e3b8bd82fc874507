import PurchaseModel

/// An attempt to come.
struct PlannedAttempt: Sendable {
    let at: Timestamp
    /// The message's.
    let number: Int
    /// 1 for the first.
    let attempt: Int
    let disturbance: Disturbance

    fileprivate func goes(before other: PlannedAttempt) -> Bool {
        (at.seconds, disturbance.rank, at, number) < (other.at.seconds, other.disturbance.rank, other.at, other.number)
    }
}

/// Attempts in the order in which they are to be made. Nearly all come in at the end, which is quick.
struct AttemptQueue: Sendable {
    /// In order; those before `taken` are gone.
    private var attempts: [PlannedAttempt] = []
    private var taken = 0

    var first: PlannedAttempt? { taken < attempts.count ? attempts[taken] : nil }

    mutating func insert(_ attempt: PlannedAttempt) {
        var (low, high) = (taken, attempts.count)
        while low < high {
            let middle = (low + high) / 2
            if attempt.goes(before: attempts[middle]) { high = middle } else { low = middle + 1 }
        }
        attempts.insert(attempt, at: low)
    }

    /// Takes out the first, if it is due.
    mutating func take(until now: Timestamp) -> PlannedAttempt? {
        guard let first, first.at <= now else { return nil }
        taken += 1
        if taken * 2 > attempts.count {
            attempts.removeFirst(taken)
            taken = 0
        }
        return first
    }
}
