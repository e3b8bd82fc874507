/// When Apple is to be asked about a subscription again.
///
/// Pure, and spread: subscriptions that began together are looked at one after the other, each at a place of its own that
/// follows from its number, so that all servers agree.
package struct LookSchedule: Hashable, Sendable {
    /// How often all is verified again that is alive, at the latest; up to a tenth sooner, by the spread.
    package var slow: Duration
    /// How long before its end a period is looked at: Apple charges within the last day. Of short periods a quarter.
    /// Up to three quarters of it later, by the spread.
    package var ahead: Duration
    /// How long after its end the first look is, for periods of a month and longer; of shorter ones a hundredth. Up to
    /// twice as long, by the spread.
    package var first: Duration
    /// The same at least.
    package var firstMin: Duration
    /// How long the end of what is paid for is no end yet, while nobody has heard from Apple.
    package var patience: Duration
    /// Whether those that began together are looked at one after the other.
    package var isSpread: Bool

    package init(
        slow: Duration = .seconds(30 * 86_400),
        ahead: Duration = .seconds(86_400),
        first: Duration = .seconds(600),
        firstMin: Duration = .seconds(30),
        patience: Duration = .seconds(86_400),
        isSpread: Bool = true
    ) {
        self.slow = slow
        self.ahead = ahead
        self.first = first
        self.firstMin = firstMin
        self.patience = patience
        self.isSpread = isSpread
    }

    /// No next look is later after the one before it: the longest that Apple tries to charge is 90 days.
    package static let longest = Duration.seconds(120 * 86_400)
    /// Each wait is so many times as long as the one before it.
    private static let widening: Int64 = 3
    private static let day = Duration.seconds(86_400)
    /// The longest wait while only the clock says that it is over: somebody may have paid.
    private static let doubt = Duration.seconds(2 * 86_400)
    /// What is behind is looked at again after no less than this part of the time since its newest known period began.
    private static let ageShare: Int64 = 50

    /// The first moment after `now` at which there may be news that nobody has told.
    ///
    /// - Parameters:
    ///   - now: when it was looked at last.
    ///   - subscription: as it stood then.
    /// - Returns: `nil` when it is over for good.
    package func next(after now: Timestamp, of subscription: Subscription) -> Timestamp? {
        var looks: [Timestamp] = []
        let spread = spread(of: subscription.chain)
        let step = spread.from(step(of: subscription), to: 2)
        let again = now.advanced(by: slow - spread.share(of: slow.part(10)))
        let end = subscription.expiresAt
        let retry = SubscriptionRules.billingRetry(on: subscription.billingPlan)
        switch subscription.state {
        case .active:
            looks.append(again)
            if let end {
                let lead = lead(of: subscription)
                looks.append(end.advanced(by: spread.share(of: lead.part(4) * 3) - lead))
                looks.append(end.advanced(by: step))
            }
        case .grace, .billingRetry:
            // From the end; or, where Apple was heard trying for longer than it says, from when that was over. When it was
            // heard does not count: an answer to a look is signed anew, and must not begin the waits again.
            let begun = subscription.retriesUntil?.advanced(by: .zero - retry)
            let start = begun ?? end ?? subscription.since ?? now
            looks.append(contentsOf: widening(from: start, step, within: retry, after: now))
            if let grace = subscription.graceEndsAt { looks.append(grace.advanced(by: step)) }
        case .expired:
            // Only the clock says so.
            if !subscription.isEndConfirmed, let end {
                looks.append(contentsOf: widening(from: end, step, within: retry, after: now, most: Self.doubt))
            }
        case .revoked:
            // A refund may be taken back as long as the period would have lasted.
            guard let end, now < end.advanced(by: step) else { break }
            looks.append(again)
            looks.append(end.advanced(by: step))
        case .unknown:
            break
        }
        if subscription.isBehind || subscription.state == .unknown, let signedAt = subscription.signedAt {
            // An answer to a look is signed anew, and must not begin the ever longer waits again.
            let age = subscription.periodStartedAt.map { max(.zero, $0.duration(to: now)) } ?? .zero
            let soonest = now.advanced(by: age.part(Self.ageShare))
            let wait = widening(from: signedAt, step, within: retry, after: now).filter { $0 > now }
            looks.append(contentsOf: wait.map { max($0, soonest) })
        }
        return looks.filter { $0 > now }.min()
    }

    /// When Apple is asked once about a subscription that was over for long when its newest known period was first heard of, by
    /// the clock alone: it may have renewed since.
    ///
    /// - Parameters:
    ///   - now: when it was heard of.
    ///   - subscription: as it stood then.
    ///   - isAwaited: whether a customer waits for what Apple says.
    /// - Returns: within a day, and within a minute where it is awaited: time enough for what comes with it. `nil` where Apple
    ///   has said that it is over, or was not to renew it.
    func once(after now: Timestamp, of subscription: Subscription, isAwaited: Bool = false) -> Timestamp? {
        guard subscription.state == .expired, !subscription.isEndConfirmed, subscription.goesOn != false else {
            return nil
        }
        guard isAwaited else { return withinADay(after: now, of: subscription.chain) }
        return now.advanced(by: spread(of: subscription.chain).from(firstMin, to: 2))
    }

    /// A moment of the next day, when Apple is asked about what can wait so long.
    func withinADay(after now: Timestamp, of chain: ChainKey) -> Timestamp {
        now.advanced(by: first + spread(of: chain).share(of: Self.day))
    }

    private func spread(of chain: ChainKey) -> LookSpread { isSpread ? LookSpread(chain) : .none }

    /// Whether a look stands later than any that is planned once: somebody has it in hand, and it is not hastened.
    func isInHand(_ look: Timestamp?, at now: Timestamp) -> Bool {
        look.map { now.advanced(by: first + Self.day) < $0 } ?? false
    }

    /// Whether two moments of a next look are as good as one: what was recorded a moment ago has said when the next one is.
    func isNearly(_ one: Timestamp?, _ other: Timestamp?) -> Bool {
        guard let one, let other else { return one == other }
        let apart = one < other ? one.duration(to: other) : other.duration(to: one)
        return apart < firstMin
    }

    /// Ever longer waits from a moment on, until Apple has given up: the next of them.
    private func widening(
        from start: Timestamp,
        _ step: Duration,
        within retry: Duration,
        after now: Timestamp,
        most: Duration? = nil
    ) -> [Timestamp] {
        let last = start.advanced(by: retry).advanced(by: step)
        var wait = step
        while start.advanced(by: wait) <= now, start.advanced(by: wait) < last {
            wait = min(wait * Int(Self.widening), wait + (most ?? retry), retry + step)
        }
        return [min(start.advanced(by: wait), last)]
    }

    private func step(of subscription: Subscription) -> Duration {
        guard let length = length(of: subscription) else { return first }
        return min(max(length.part(100), firstMin), first)
    }

    private func lead(of subscription: Subscription) -> Duration {
        guard let length = length(of: subscription) else { return ahead }
        return min(length.part(4), ahead)
    }

    private func length(of subscription: Subscription) -> Duration? {
        guard let start = subscription.periodStartedAt, let end = subscription.expiresAt, start < end else {
            return nil
        }
        return start.duration(to: end)
    }
}

/// A subscription's place among all of them: as good as any other, and always the same.
private struct LookSpread {
    private static let places: UInt64 = 1_000_000
    private let place: Int64

    /// The first place of all.
    static let none = LookSpread(place: 0)

    private init(place: Int64) { self.place = place }

    init(_ chain: ChainKey) {
        // Apple counts its numbers up: neighbours must not stay neighbours. The finalizer of SplitMix64.
        var mixed = UInt64(bitPattern: chain.original.number) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        place = Int64((mixed ^ mixed >> 31) % Self.places)
    }

    /// None of it to all of it.
    func share(of whole: Duration) -> Duration {
        .milliseconds(whole.wholeMilliseconds * place / Int64(Self.places))
    }

    func from(_ least: Duration, to times: Int) -> Duration { least + share(of: least * (times - 1)) }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }

    /// In whole milliseconds, which take less to divide than the 128 bits of a duration.
    fileprivate func part(_ divisor: Int64) -> Duration { .milliseconds(wholeMilliseconds / divisor) }
}
