/// After which delays a failed job is tried again: each twice the one before, up to a longest one, spread by chance so
/// that what failed together does not come back together.
package struct RetrySchedule: Hashable, Sendable {
    package var first: Duration
    package var longest: Duration
    /// After so many attempts the job is given up.
    package var attemptsMax: Int

    package init(first: Duration, longest: Duration, attemptsMax: Int) {
        self.first = first
        self.longest = longest
        self.attemptsMax = attemptsMax
    }

    /// How long to wait after an attempt.
    ///
    /// - Parameters:
    ///   - attempt: which one failed, from 1.
    ///   - chance: any number, each as likely as the others.
    /// - Returns: three quarters of the schedule's delay to five quarters of it; `nil` when it was the last attempt.
    package func delay(afterAttempt attempt: Int, chance: UInt64) -> Duration? {
        guard attempt < attemptsMax else { return nil }
        var (delay, doublings) = (first, attempt - 1)
        while doublings > 0, delay > .zero, delay < longest {
            delay = delay * 2
            doublings -= 1
        }
        let thousandths = 750 + Int(chance % 501)
        return min(delay, longest) * thousandths / 1_000
    }
}
