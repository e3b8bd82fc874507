import PurchaseModel
import Simulator

/// When Apple is away, and how: known beforehand, by the seed, so that what may be late because of it can be told from
/// what is late without a reason.
struct AppleTroubles: Sendable {
    /// Apple answers nothing that counts.
    struct Outage: Hashable, Sendable {
        let start: Timestamp
        let end: Timestamp
    }

    /// Thousandths of the time.
    private static let share: Int64 = 100
    /// Of the requests that are asked at other times, each of these troubles befalls so many thousandths.
    private static let stray = 2

    let outages: [Outage]
    private let seed: UInt64

    init(from start: Timestamp, until end: Timestamp, seed: UInt64) {
        var random = SplitMix64(seed: seed ^ 0x6F75_7461_6765)
        var outages: [Outage] = []
        var at = start
        while true {
            // Short ones are frequent, and one in eight takes days.
            let isLong = random.next() % 8 == 0
            let length = 300 + Int64(random.next() % (isLong ? 3 * 86_400 : 4 * 3_600))
            let around = length * (1_000 - Self.share) / Self.share
            at = at.advanced(by: .seconds(Int64(random.next() % UInt64(2 * around))))
            let outage = Outage(start: at, end: at.advanced(by: .seconds(length)))
            guard outage.end < end else { break }
            outages.append(outage)
            at = outage.end
        }
        self.outages = outages
        self.seed = seed
    }

    /// Which of the stretches with and without an outage a moment is in.
    func stretch(at moment: Timestamp) -> Int {
        var (low, high) = (0, outages.count)
        while low < high {
            let middle = (low + high) / 2
            if outages[middle].end <= moment { low = middle + 1 } else { high = middle }
        }
        guard low < outages.count else { return 2 * low }
        return outages[low].start <= moment ? 2 * low + 1 : 2 * low
    }

    /// When the stretch after this one begins.
    func end(ofStretch number: Int) -> Timestamp? {
        guard number / 2 < outages.count else { return nil }
        let outage = outages[number / 2]
        return number % 2 == 0 ? outage.start : outage.end
    }

    func chaos(inStretch number: Int) -> Chaos {
        var chaos = number % 2 == 0 ? Self.strays : Self.outage
        chaos.seed = seed &+ UInt64(number)
        return chaos
    }

    private static let strays: Chaos = {
        var chaos = Chaos.none
        for trouble in [
            \Chaos.slow, \.timeOut, \.reset, \.serverError, \.tooManyRequests, \.html, \.truncated, \.unauthorized,
            \.temporaryStatus,
        ] { chaos[keyPath: trouble] = stray }
        return chaos
    }()

    /// Every request comes to grief.
    private static let outage: Chaos = {
        var chaos = Chaos.none
        (chaos.timeOut, chaos.reset, chaos.serverError) = (150, 100, 300)
        (chaos.tooManyRequests, chaos.html, chaos.truncated) = (150, 100, 100)
        (chaos.unauthorized, chaos.temporaryStatus) = (50, 50)
        return chaos
    }()
}

/// Up to when everything that Apple did must be known at a moment.
///
/// What Apple does is told by a notification, or found by the next comparison with what Apple has sent, which runs each
/// hour, leaves out the last ten minutes, and after a failure comes again within five quarters of an hour. So in any time
/// of that length in which nothing fails, all that was done before it becomes known.
struct KnowingTime: Sendable {
    /// Five quarters of an hour; and a minute, for several jobs that ask one after the other.
    static let length = Duration.seconds(4_560)

    private let troubles: AppleTroubles
    /// Requests that failed by chance, in their order.
    private let strays: [Timestamp]

    init(_ troubles: AppleTroubles, strays: [Timestamp]) {
        self.troubles = troubles
        self.strays = strays
    }

    /// The latest moment before which all must be known now.
    func limit(at now: Timestamp) -> Timestamp {
        var end = now
        while true {
            let begin = end.advanced(by: .zero - Self.length)
            let stray = strays.last { $0 > begin && $0 <= end }
            let outage = troubles.outages.last { $0.start < end && $0.end > begin }
            guard stray != nil || outage != nil else { return begin }
            let before = [stray?.advanced(by: .milliseconds(-1)), outage?.start].compactMap(\.self).max() ?? begin
            end = min(before, end.advanced(by: .milliseconds(-1)))
        }
    }
}
