package import PurchaseModel

/// How many requests may go now: a bucket of tokens that fills up evenly.
///
/// Apple writes its limits by the second and keeps them by the hour. The bucket fills at nine tenths of the limit and
/// holds a minute of it, so that in no hour, wherever it begins, more than 55 of 60 minutes' worth are sent. What nobody waits
/// for takes no more than the upper half of it.
///
/// A pure value with whole numbers: the same questions at the same moments give the same answers.
/// Source: Apple, *Identifying rate limits*.
package struct RequestBudget: Hashable, Sendable {
    /// What one process may use of a limit that several share.
    package struct Share: Hashable, Sendable {
        /// How many processes call Apple for the same apps. Each takes its part; none asks another.
        package var nodes: Int
        /// What is left to others that call by the same keys, in percent: scripts, an older server.
        package var percent: Int

        package init(nodes: Int = 1, percent: Int = 100) {
            precondition(nodes >= 1 && (1...100).contains(percent), "at least one node, and 1 to 100 percent")
            self.nodes = nodes
            self.percent = percent
        }
    }

    /// A request in the unit of ``tokens``: what an hour's rate of one adds in an hour.
    private static let request: Int64 = 3_600_000
    /// Hundredths of Apple's limit that are used.
    private static let used: Int64 = 90

    /// Requests in an hour; at least one.
    package let perHour: Int64
    private let tokensMax: Int64
    private var tokens: Int64
    private var filledAt: Timestamp
    /// Apple said so.
    package private(set) var blockedUntil: Timestamp?
    /// When it said so last.
    private var blockedAt: Timestamp
    /// How often in a row.
    private var blocks = 0

    /// - Parameters:
    ///   - perSecond: Apple's limit for production.
    ///   - isProduction: the sandbox has a tenth.
    ///   - share: what of it is ours.
    ///   - now: the bucket is full now.
    package init(perSecond: Int, isProduction: Bool, share: Share, at now: Timestamp) {
        let limit = Int64(perSecond) * 3_600 * Int64(share.percent) * Self.used / 10_000
        perHour = max(1, limit / Int64(share.nodes) / (isProduction ? 1 : 10))
        tokensMax = max(Self.request, perHour * Self.request / 60)
        tokens = tokensMax
        filledAt = now
        blockedAt = now
    }

    /// Takes one request out of the bucket.
    ///
    /// - Parameters:
    ///   - now: when.
    ///   - urgency: whether somebody waits for it.
    /// - Returns: `nil` when it may go; else the moment from which the next of its urgency may.
    package mutating func take(at now: Timestamp, for urgency: AppleUrgency = .awaited) -> Timestamp? {
        fill(until: now)
        if let blockedUntil {
            guard now >= blockedUntil || isFarBefore(blockedAt, now) else { return blockedUntil }
            self.blockedUntil = nil
        }
        let least = Self.request + left(by: urgency)
        guard tokens >= least else {
            let missing = least - tokens
            return now.advanced(by: .milliseconds((missing + perHour - 1) / perHour))
        }
        tokens -= Self.request
        return nil
    }

    /// What stays in the bucket for others; a bucket of one request leaves nothing, or it would never go.
    private func left(by urgency: AppleUrgency) -> Int64 {
        switch urgency {
        case .awaited: 0
        case .patient: min(tokensMax / 2, tokensMax - Self.request)
        }
    }

    /// Apple said 429: nothing goes before, and then no burst. Each that follows on another holds at least twice as long,
    /// up to a minute: a moment that has passed is no permission to ask all the time.
    package mutating func block(until moment: Timestamp, at now: Timestamp) {
        let least = now.advanced(by: .seconds(min(60, 1 << min(blocks, 6))))
        blocks += 1
        blockedAt = now
        blockedUntil = max(moment, least, blockedUntil ?? moment)
        tokens = min(tokens, Self.request)
    }

    /// Apple answered: it is over.
    package mutating func answered() { blocks = 0 }

    /// Whether the clock was set back so far since a moment that what was noted then means nothing any more.
    private func isFarBefore(_ moment: Timestamp, _ now: Timestamp) -> Bool { moment > now.advanced(by: .seconds(60)) }

    private mutating func fill(until now: Timestamp) {
        // A clock that was set back fills nothing until it has caught up, and one that was set forward a bucket.
        guard now > filledAt else {
            if isFarBefore(filledAt, now) { filledAt = now }
            return
        }
        let passed = min(now.milliseconds - filledAt.milliseconds, 3_600_000)
        tokens = min(tokensMax, tokens + passed * perHour)
        filledAt = now
    }
}
