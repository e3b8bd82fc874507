/// When each purchase is tried again. It is forgotten when the app ends: whoever starts it anew wants to see it try.
///
/// All moments are seconds of a clock that nobody sets, since the device was started or from any other moment.
package struct Pacing: Equatable, Sendable {
    /// The first pause, and the longest, in seconds. Each is twice as long as the one before.
    private struct Schedule {
        let first: Double
        let most: Double
        /// A server or a network that comes back by itself, a decision that takes its time.
        static let temporary = Schedule(first: 1, most: 600)
        /// Somebody has to do something first: a wrong key, a wrong address.
        static let lasting = Schedule(first: 60, most: 3_600)
    }

    /// A server that says to come again in years is not believed.
    package static let pauseMax: Double = 86_400

    private var attempts: [String: Int] = [:]
    private var due: [String: Double] = [:]
    /// The server has told all who ask to wait until then.
    private var quietUntil: Double = -.infinity

    package init() {}

    /// It is tried again later.
    ///
    /// - Parameters:
    ///   - id: the purchase.
    ///   - isTemporary: whether waiting alone may mend it.
    ///   - retryAfter: what the server asked for, in seconds.
    ///   - now: the moment.
    ///   - random: any number: of many apps that failed at once, not all shall come again at once.
    package mutating func postpone(
        _ id: String,
        isTemporary: Bool,
        retryAfter: Double?,
        at now: Double,
        random: UInt64
    ) {
        let schedule = isTemporary ? Schedule.temporary : .lasting
        let attempt = attempts[id] ?? 0
        attempts[id] = attempt + 1
        var pause = schedule.first
        for _ in 0..<min(attempt, 30) where pause < schedule.most { pause = min(pause * 2, schedule.most) }
        // Between half and all of it.
        let share = Double(random >> 11) / Double(UInt64(1) << 53)
        pause *= 0.5 + share / 2
        if let retryAfter {
            let wanted = min(max(retryAfter, 0), Self.pauseMax)
            quietUntil = max(quietUntil, now + wanted)
            // Not before it, and not everybody in the same second.
            pause = max(pause, wanted + share * min(wanted / 10, 60))
        }
        due[id] = now + pause
    }

    /// It is tried at once, and if that fails as late as before.
    package mutating func hasten(_ id: String) { due[id] = nil }

    package mutating func forget(_ id: String) {
        attempts[id] = nil
        due[id] = nil
    }

    /// All are tried at once, except that what the server asked for is kept to.
    package mutating func wake() {
        attempts = [:]
        due = [:]
    }

    package func isDue(_ id: String, at now: Double) -> Bool { moment(of: id) <= now }

    /// When the next of them is due.
    package func next(of ids: [String]) -> Double? { ids.map(moment).min() }

    private func moment(of id: String) -> Double { max(due[id] ?? -.infinity, quietUntil) }
}
