/// When Apple is to be asked about a subscription again. Pure: whoever asks adds what spreads many over time.
package struct LookSchedule: Hashable, Sendable {
    /// How often all is verified again that is alive.
    package var slow: Duration
    /// How long before its end a period is looked at: Apple charges within the last day. Of short periods a quarter.
    package var ahead: Duration
    /// How long after its end the first look is, for periods of a month and longer; of shorter ones a hundredth.
    package var first: Duration
    /// The same at least.
    package var firstMin: Duration
    /// How long the end of what is paid for is no end yet, while nobody has heard from Apple.
    package var patience: Duration

    package init(
        slow: Duration = .seconds(30 * 86_400),
        ahead: Duration = .seconds(86_400),
        first: Duration = .seconds(600),
        firstMin: Duration = .seconds(30),
        patience: Duration = .seconds(86_400)
    ) {
        self.slow = slow
        self.ahead = ahead
        self.first = first
        self.firstMin = firstMin
        self.patience = patience
    }

    /// Each wait is so many times as long as the one before it.
    private static let widening: Int64 = 3

    /// The first moment after `now` at which there may be news that nobody has told.
    ///
    /// - Parameters:
    ///   - now: when it was looked at last.
    ///   - subscription: as it stood then.
    /// - Returns: `nil` when it is over for good.
    package func next(after now: Timestamp, of subscription: Subscription) -> Timestamp? {
        var looks: [Timestamp] = []
        let step = step(of: subscription)
        let end = subscription.expiresAt
        switch subscription.state {
        case .active:
            looks.append(now.advanced(by: slow))
            if let end {
                looks.append(end.advanced(by: .zero - lead(of: subscription)))
                looks.append(end.advanced(by: step))
            }
        case .grace, .billingRetry:
            let start = end ?? subscription.since ?? now
            looks.append(contentsOf: widening(from: start, step, after: now))
            if let grace = subscription.graceEndsAt { looks.append(grace.advanced(by: step)) }
        case .expired:
            // Only the clock says so.
            if !subscription.isEndConfirmed, let end {
                looks.append(contentsOf: widening(from: end, step, after: now))
            }
        case .revoked:
            // A refund may be taken back as long as the period would have lasted.
            guard let end, now < end.advanced(by: step) else { break }
            looks.append(now.advanced(by: slow))
            looks.append(end.advanced(by: step))
        case .unknown:
            break
        }
        if subscription.isBehind || subscription.state == .unknown, let signedAt = subscription.signedAt {
            looks.append(contentsOf: widening(from: signedAt, step, after: now))
        }
        return looks.filter { $0 > now }.min()
    }

    /// Ever longer waits from a moment on, until Apple has given up: the next of them.
    private func widening(from start: Timestamp, _ step: Duration, after now: Timestamp) -> [Timestamp] {
        let last = start.advanced(by: SubscriptionRules.billingRetry).advanced(by: step)
        var wait = step
        while start.advanced(by: wait) <= now, start.advanced(by: wait) < last {
            wait = min(wait * Int(Self.widening), SubscriptionRules.billingRetry + step)
        }
        return [min(start.advanced(by: wait), last)]
    }

    private func step(of subscription: Subscription) -> Duration {
        guard let length = length(of: subscription) else { return first }
        return min(max(length / 100, firstMin), first)
    }

    private func lead(of subscription: Subscription) -> Duration {
        guard let length = length(of: subscription) else { return ahead }
        return min(length / 4, ahead)
    }

    private func length(of subscription: Subscription) -> Duration? {
        guard let start = subscription.periodStartedAt, let end = subscription.expiresAt, start < end else {
            return nil
        }
        return start.duration(to: end)
    }
}
