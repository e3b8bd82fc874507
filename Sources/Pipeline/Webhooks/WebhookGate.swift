package import PurchaseModel

/// One endpoint as one node has come to know it: how many calls it may be sent now.
///
/// Three bounds at once. The window begins at one call and grows with every success, so that a server that does not answer
/// holds one call and not many. The breaker opens after failures in a row; then one probe at a time tells whether to
/// close it. The bucket bounds the rate. All of it is forgotten with the process: it spares others' time, and decides
/// nothing that must last.
package struct WebhookGate: Sendable, Equatable {
    /// So many failures in a row open the breaker.
    package static let failuresMax = 5
    /// How long it stays open, doubled at each probe that fails, until the second.
    static let openFor: (first: Duration, longest: Duration) = (.seconds(30), .seconds(600))
    /// For an endpoint that has too much to do and does not say for how long.
    static let throttledFor = Duration.seconds(5)

    private var underWay = 0
    private var window = 1
    /// Of the endpoint; one call until it is known.
    private var concurrencyMax = 1
    /// In a row.
    private var failures = 0
    private var hasSucceeded = false
    /// How often in a row the breaker has opened.
    private var openings = 0
    /// No call in this time. Before it lies a clock that was set back since, which is not to be waited for.
    private var closed: Range<Timestamp>?
    private var bucket: TokenBucket?
    /// The endpoint's, as it was sent to last.
    private var version: Int64?

    package init() {}

    /// Whether its last answers were good: then it may use all of a node's room, else only the part for the doubtful.
    package var isProven: Bool { hasSucceeded && failures == 0 }

    /// Whether the breaker is open, or one probe is to show whether it may close.
    package var isOpen: Bool { openings > 0 }

    /// Until when it is left alone; `nil` when it may be sent something.
    package func closedUntil(at now: Timestamp) -> Timestamp? {
        closed.flatMap { $0.contains(now) ? $0.upperBound : nil }
    }

    /// Whether calls are under way.
    package var isBusy: Bool { underWay > 0 }

    /// Whether nothing would be lost if it were forgotten.
    package var isIdle: Bool { !isBusy && failures == 0 && closed == nil }

    /// Takes note of which version of the endpoint is sent to. Of another than before nothing is known yet: its address may
    /// have changed, or its owner has mended it and enabled it again.
    package mutating func setVersion(_ version: Int64) {
        defer { self.version = version }
        guard let known = self.version, known != version else { return }
        (window, failures, openings, hasSucceeded, closed) = (1, 0, 0, false, nil)
    }

    /// Takes over what the endpoint's owner allows, as a claim told it.
    package mutating func setLimits(concurrencyMax: Int, perSecondMax: Int?, at now: Timestamp) {
        self.concurrencyMax = concurrencyMax
        guard let perSecondMax else { return bucket = nil }
        if bucket == nil {
            bucket = TokenBucket(perSecond: perSecondMax, at: now)
            // What began before anybody knew of the bound.
            bucket?.take(underWay)
        }
        bucket?.setRate(perSecondMax, at: now)
    }

    /// How many calls may begin now; 0 or more.
    package mutating func room(at now: Timestamp) -> Int {
        if let closed, closed.contains(now) { return 0 }
        let room = (isOpen ? 1 : min(window, concurrencyMax)) - underWay
        return max(0, min(room, bucket?.count(at: now) ?? room))
    }

    package mutating func begin(_ count: Int) {
        underWay += count
        bucket?.take(count)
    }

    /// Some of those that were to begin did not.
    package mutating func giveBack(_ count: Int) { begin(-count) }

    package mutating func end(_ verdict: WebhookVerdict, at now: Timestamp) {
        underWay -= 1
        switch verdict {
        case .notTried: bucket?.take(-1)
        case .delivered:
            hasSucceeded = true
            failures = 0
            openings = 0
            closed = nil
            window = min(window + 1, WebhookGate.windowMax)
        case .gone: failed(at: now)
        case .throttled(let wanted):
            failed(at: now)
            // The message waits for as long as was wished. The others do not wait for a day because of one answer, which may
            // have been meant for one message, or be a mistake that is mended by then.
            let pause = min(max(wanted ?? WebhookGate.throttledFor, .zero), WebhookGate.openFor.longest)
            let until = now.advanced(by: pause)
            // Failures in a row may have closed it for longer.
            closed = now..<max(closed.flatMap { $0.contains(now) ? $0.upperBound : nil } ?? until, until)
        case .failed: failed(at: now)
        }
    }

    /// A person knows that it answers again, or wants to see whether it does. What had failed is not forgotten: where the breaker
    /// was open, one probe tells.
    package mutating func reopen() { closed = nil }

    private mutating func failed(at now: Timestamp) {
        window = 1
        failures += 1
        guard failures >= WebhookGate.failuresMax else { return }
        // What was under way when it opened, and fails now, is no probe.
        if let closed, closed.contains(now) { return }
        let pause = WebhookGate.openFor.first * (1 << min(openings, 10))
        closed = now..<now.advanced(by: min(pause, WebhookGate.openFor.longest))
        openings += 1
    }

    /// As large as a window can usefully be: the endpoint's own bound comes first.
    private static let windowMax = 1_000
}

/// How a node's calls are shared out: whoever has not shown lately that it answers gets a part of the room only. So any
/// number of servers that do not answer leave room for those that do.
package struct WebhookLanes: Sendable, Equatable {
    private let callsMax: Int
    private let doubtfulMax: Int
    private var proven = 0
    private var doubtful = 0

    /// - Parameters:
    ///   - callsMax: under way at once.
    ///   - doubtfulMax: of these, to endpoints that are not proven.
    package init(callsMax: Int, doubtfulMax: Int) {
        self.callsMax = callsMax
        self.doubtfulMax = min(doubtfulMax, callsMax)
    }

    package var isEmpty: Bool { proven + doubtful == 0 }

    /// How many calls to one endpoint may begin now; 0 or more. An eighth of all is kept for endpoints that have none: some
    /// that answer slowly, but well, would take all the room otherwise.
    ///
    /// - Parameters:
    ///   - isProven: whether its last answers were good.
    ///   - isBusy: whether it has calls under way.
    /// - Returns: a number of calls.
    package func room(isProven: Bool, isBusy: Bool) -> Int {
        let free = callsMax - proven - doubtful
        let shared = free - callsMax / 8
        // One after the other halves what is kept, so that the last place is left to the last of them.
        let fair = isBusy ? shared : max(shared, (free + 1) / 2)
        return max(0, isProven ? fair : min(fair, doubtfulMax - doubtful))
    }

    package mutating func begin(_ count: Int, isProven: Bool) {
        if isProven { proven += count } else { doubtful += count }
    }

    package mutating func end(_ count: Int = 1, isProven: Bool) {
        begin(-count, isProven: isProven)
    }
}
