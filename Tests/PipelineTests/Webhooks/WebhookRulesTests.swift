import HTTP
import Pipeline
import PurchaseModel
import Storage
import TestSupport
import Testing

@Suite struct WebhookVerdictTests {
    /// 2026-11-21T00:00:00Z.
    private static let now = Timestamp(seconds: 1_795_219_200)

    @Test(
        arguments: [
            (200, .delivered), (201, .delivered), (202, .delivered), (204, .delivered), (299, .delivered),
            (199, .failed(nil)), (0, .failed(nil)),
            (300, .failed(nil)), (301, .failed(nil)), (302, .failed(nil)), (303, .failed(nil)), (304, .failed(nil)),
            (307, .failed(nil)), (308, .failed(nil)),
            (400, .failed(nil)), (401, .failed(nil)), (403, .failed(nil)), (404, .failed(nil)), (408, .failed(nil)),
            (409, .failed(nil)), (410, .gone), (411, .failed(nil)), (429, .throttled(nil)),
            (500, .failed(nil)), (501, .failed(nil)), (502, .throttled(nil)), (503, .throttled(nil)),
            (504, .throttled(nil)), (505, .failed(nil)), (599, .failed(nil)),
        ] as [(Int, WebhookVerdict)]
    )
    func everyStatusHasItsMeaning(status: Int, verdict: WebhookVerdict) {
        #expect(WebhookVerdict(HTTPResponse(HTTPStatus(rawValue: status)), at: Self.now) == verdict)
    }

    @Test(
        arguments: [
            ("120", 120), ("0", 0), ("86400", 86_400), ("86401", 86_400), ("99999999999999999999999999", 86_400),
            ("Sat, 21 Nov 2026 00:02:00 GMT", 120), ("Fri, 20 Nov 2026 00:00:00 GMT", 0),
            ("Sun, 21 Nov 2027 00:00:00 GMT", 86_400), ("Saturday, 21-Nov-26 00:02:00 GMT", 120),
            ("-5", nil), ("1.5", nil), ("", nil), ("soon", nil), ("120s", nil), ("0x10", nil), ("١٢٠", nil),
        ] as [(String, Int?)]
    )
    func aPauseIsTakenAndBounded(text: String, seconds: Int?) {
        for (status, verdict) in [
            (503, WebhookVerdict.throttled(seconds.map { .seconds($0) })), (500, .failed(seconds.map { .seconds($0) })),
            (301, .failed(seconds.map { .seconds($0) })), (200, .delivered), (410, .gone),
        ] {
            let answer = HTTPResponse(HTTPStatus(rawValue: status), fields: ["Retry-After": text])
            #expect(WebhookVerdict(answer, at: Self.now) == verdict, "\(status)")
        }
    }

    @Test func twoPausesAreNone() {
        let fields: HTTPFields = ["Retry-After": "120", "retry-after": "5"]
        #expect(WebhookVerdict(HTTPResponse(.serviceUnavailable, fields: fields), at: Self.now) == .throttled(nil))
    }

    @Test(
        arguments: [
            (.timedOut, .failed(nil)), (.unreachable, .failed(nil)), (.unresolved, .failed(nil)), (.tls, .failed(nil)),
            (.addressRefused, .failed(nil)), (.invalidCall, .failed(nil)), (.malformedResponse, .failed(nil)),
            (.other(code: 1), .failed(nil)), (.cancelled, .notTried), (.tooManyCalls, .notTried),
        ] as [(HTTPCallFailure, WebhookVerdict)]
    )
    func silenceIsAFailureUnlessItIsOurs(failure: HTTPCallFailure, verdict: WebhookVerdict) {
        #expect(WebhookVerdict(failure) == verdict)
    }
}

@Suite struct WebhookScheduleTests {
    private static let seconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]

    @Test func theScheduleIsTheSpecifications() {
        let schedule = WebhookSchedule.standard
        #expect(schedule.attemptsMax == 10)
        let pauses = (1...9).map { schedule.pause(after: $0, seed: 0) }
        #expect(pauses == Self.seconds.map { .seconds($0) })
        // 75 hours, 35 minutes, 5 seconds.
        #expect(pauses.compactMap(\.self).reduce(.zero, +) == .seconds(272_105))
        for attempts in [0, -1, 10, 11, Int.max] { #expect(schedule.pause(after: attempts, seed: 0) == nil) }
    }

    @Test(arguments: UInt64(0)..<100)
    func jitterOnlyAddsAndIsRepeatable(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for (index, seconds) in Self.seconds.enumerated() {
            let drawn = random.next()
            let pause = try #require(WebhookSchedule.standard.pause(after: index + 1, seed: drawn))
            #expect(pause >= .seconds(seconds) && pause <= .seconds(seconds) * 6 / 5)
            #expect(WebhookSchedule.standard.pause(after: index + 1, seed: drawn) == pause)
        }
    }

    @Test func deliveriesThatFailTogetherComeApart() {
        let pauses = (0..<100).map { number in
            let event = EventID(checked: "evt_\(number)")
            let delivery = WebhookDeliveryID(endpoint: WebhookEndpointID(checked: "whe_1"), event: event)
            return WebhookSchedule.standard.pause(after: 3, seed: WebhookSchedule.seed(of: delivery, attempt: 3))
        }
        #expect(Set(pauses).count > 90)
    }

    @Test(
        arguments: [
            (.delivered, 1, .delivered), (.delivered, 10, .delivered), (.gone, 1, .gone),
            (.notTried, 10, .released), (.failed(nil), 1, .again(after: .seconds(5))),
            (.failed(nil), 9, .again(after: .seconds(86_400))),
            (.failed(nil), 10, .dead(because: "attempts_exhausted")),
            (.failed(nil), 11, .dead(because: "attempts_exhausted")),
            (.throttled(nil), 10, .dead(because: "attempts_exhausted")),
            (.throttled(.seconds(60)), 1, .again(after: .seconds(60))),
            (.throttled(.seconds(60)), 2, .again(after: .seconds(300))),
            (.failed(.seconds(60)), 1, .again(after: .seconds(60))), (.failed(.zero), 1, .again(after: .seconds(5))),
        ] as [(WebhookVerdict, Int, DeliveryOutcome)]
    )
    func everyVerdictHasItsOutcome(verdict: WebhookVerdict, attempts: Int, outcome: DeliveryOutcome) {
        #expect(WebhookSchedule.standard.outcome(of: verdict, attempts: attempts, seed: 0) == outcome)
    }

    @Test(
        arguments: [(nil, false), (0, false), (431_999, false), (432_000, true), (999_999, true), (-5, false)]
            as [(Int?, Bool)]
    )
    func afterFiveDaysOfFailuresItIsHopeless(seconds: Int?, isHopeless: Bool) {
        let now = Timestamp(seconds: 1_795_219_200)
        let since = seconds.map { now.advanced(by: .seconds(-$0)) }
        #expect(WebhookSchedule.isHopeless(failingSince: since, at: now) == isHopeless)
    }
}
