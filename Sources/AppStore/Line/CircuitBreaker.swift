package import PurchaseModel

/// Stops asking who fails again and again, and tries one request now and then.
///
/// A pure value. It opens after so many failures in a row, rests twice as long after each probe that fails, and closes with
/// the first success.
package struct CircuitBreaker: Hashable, Sendable {
    /// When it opens, and how long it rests.
    package struct Rule: Hashable, Sendable {
        package var failures: Int
        package var rest: Duration
        package var restMax: Duration
        /// A probe of which nothing was heard, since its task ended, is forgotten after this.
        package var probeMax = Duration.seconds(90)

        /// For a host. Five failures in a row are no accident; in five minutes an outage may well be over.
        package static let host = Rule(failures: 5, rest: .seconds(5), restMax: .seconds(300))
        /// For a key that gets 401: only a person can mend it.
        package static let key = Rule(failures: 3, rest: .seconds(60), restMax: .seconds(900))
    }

    private enum Phase: Hashable, Sendable {
        case closed(failures: Int)
        case open(since: Timestamp, until: Timestamp, rests: Int)
        /// One request is under way to see.
        case probing(since: Timestamp, rests: Int)
    }

    private let rule: Rule
    private var phase = Phase.closed(failures: 0)

    package init(_ rule: Rule) {
        self.rule = rule
    }

    package var isOpen: Bool { if case .closed = phase { false } else { true } }

    /// A clock that was set back to before the rest began ends it: how long it would last nobody knows.
    ///
    /// - Returns: `nil` when a request may go; else the moment from which one may. Whoever was let through must tell what
    ///   came of it.
    package mutating func take(at now: Timestamp) -> Timestamp? {
        switch phase {
        case .closed: return nil
        case .open(let since, let until, let rests):
            guard now >= until || now < since else { return until }
            phase = .probing(since: now, rests: rests)
            return nil
        case .probing(let since, let rests):
            let end = since.advanced(by: rule.probeMax)
            guard now >= end || now < since else { return end }
            phase = .probing(since: now, rests: rests)
            return nil
        }
    }

    /// Whether this made it close.
    package mutating func succeed() -> Bool {
        let wasOpen = isOpen
        phase = .closed(failures: 0)
        return wasOpen
    }

    /// - Returns: until when it rests, if this made it open, or open again.
    package mutating func fail(at now: Timestamp) -> Timestamp? {
        switch phase {
        case .closed(let failures):
            guard failures + 1 >= rule.failures else {
                phase = .closed(failures: failures + 1)
                return nil
            }
            return rest(0, at: now)
        case .probing(_, let rests): return rest(rests + 1, at: now)
        // A request that was under way when it opened tells nothing new.
        case .open: return nil
        }
    }

    /// A probe that tells neither: another may go at once.
    package mutating func tellNothing(at now: Timestamp) {
        guard case .probing(_, let rests) = phase else { return }
        phase = .open(since: now, until: now, rests: rests)
    }

    private mutating func rest(_ rests: Int, at now: Timestamp) -> Timestamp {
        let length = min(rule.rest * (1 << min(rests, 20)), rule.restMax)
        let until = now.advanced(by: length)
        phase = .open(since: now, until: until, rests: min(rests, 20))
        return until
    }
}
