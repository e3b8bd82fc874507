/// How badly Apple behaves. Shares are thousandths of all requests, or of all notifications.
///
/// The same seed and the same requests in the same order give the same faults.
package struct Chaos: Hashable, Sendable {
    package var seed: UInt64 = 1
    /// Answers that come late, and how late: milliseconds of real time.
    package var slow = 0
    package var slowMilliseconds = 3_000...6_000
    /// Nothing for as long as ``timeOutMilliseconds``, and then the end of the connection.
    package var timeOut = 0
    package var timeOutMilliseconds = 60_000
    /// The connection is reset at once.
    package var reset = 0
    /// 500, 502, 503 or 504, some with Apple's JSON and some with a proxy's page.
    package var serverError = 0
    package var tooManyRequests = 0
    /// 200 with a page for people.
    package var html = 0
    /// 200 with half of the right answer.
    package var truncated = 0
    /// 401 without a body.
    package var unauthorized = 0
    /// verifyReceipt: 21002, 21005 or 21009 for what is right.
    package var temporaryStatus = 0
    /// What Apple's clock shows beyond the time: seconds.
    package var clockSkewSeconds = 0

    package var noticesLost = 0
    package var noticesTwice = 0
    /// Delivered after what happened later.
    package var noticesReordered = 0
    package var noticesLate = 0
    /// How late: seconds of virtual time.
    package var lateSeconds = 3_600

    package init() {}

    package static let none = Chaos()

    /// What happens to one request.
    package enum Fate: Hashable, Sendable {
        case answered
        case slow(milliseconds: Int)
        case timeOut(milliseconds: Int)
        case reset
        case serverError(status: Int, isPage: Bool)
        case tooManyRequests
        case html
        case truncated
        case unauthorized
        case temporaryStatus(Int)
    }

    /// The fate of the request that is the `number`th.
    package func fate(ofRequest number: UInt64) -> Fate {
        var dice = Dice(seed, number)
        var roll = dice.below(1_000)
        func falls(_ share: Int) -> Bool {
            roll -= share
            return roll < 0
        }
        if falls(slow) { return .slow(milliseconds: dice.within(slowMilliseconds)) }
        if falls(timeOut) { return .timeOut(milliseconds: timeOutMilliseconds) }
        if falls(reset) { return .reset }
        if falls(serverError) {
            return .serverError(status: [500, 502, 503, 504][dice.below(4)], isPage: dice.below(2) == 0)
        }
        if falls(tooManyRequests) { return .tooManyRequests }
        if falls(html) { return .html }
        if falls(truncated) { return .truncated }
        if falls(unauthorized) { return .unauthorized }
        if falls(temporaryStatus) { return .temporaryStatus([21_002, 21_005, 21_009][dice.below(3)]) }
        return .answered
    }

    /// What happens to one notification.
    package enum NoticeFate: Hashable, Sendable {
        case delivered
        case lost
        case twice
        case reordered
        case late(seconds: Int)
    }

    /// The fate of the notification that is the `number`th.
    package func fate(ofNotice number: UInt64) -> NoticeFate {
        // Another stream than that of requests.
        var dice = Dice(seed ^ 0x6E6F_7469_6365, number)
        var roll = dice.below(1_000)
        func falls(_ share: Int) -> Bool {
            roll -= share
            return roll < 0
        }
        if falls(noticesLost) { return .lost }
        if falls(noticesTwice) { return .twice }
        if falls(noticesReordered) { return .reordered }
        if falls(noticesLate) { return .late(seconds: lateSeconds) }
        return .delivered
    }
}

/// Numbers for one event of a stream: they depend on nothing that happened before.
private struct Dice {
    private var random: SplitMix64

    init(_ seed: UInt64, _ number: UInt64) {
        random = SplitMix64(seed: seed &* 0x9E37_79B9_7F4A_7C15 ^ number &* 0xD1B5_4A32_D192_ED03)
    }

    mutating func below(_ count: Int) -> Int { Int(random.next() % UInt64(max(1, count))) }

    mutating func within(_ range: ClosedRange<Int>) -> Int { range.lowerBound + below(range.count) }
}
