import HTTP
import PurchaseModel
import Simulator
import TestSupport
import Testing

/// Faults on purpose: the same ones for the same seed, as often as asked for, and of every kind.
struct ChaosTests {
    private static func everything(seed: UInt64) -> Chaos {
        var chaos = Chaos()
        chaos.seed = seed
        chaos.slow = 100
        chaos.timeOut = 50
        chaos.reset = 50
        chaos.serverError = 100
        chaos.tooManyRequests = 50
        chaos.html = 50
        chaos.truncated = 50
        chaos.unauthorized = 50
        chaos.temporaryStatus = 100
        chaos.noticesLost = 100
        chaos.noticesTwice = 100
        chaos.noticesReordered = 100
        chaos.noticesLate = 100
        return chaos
    }

    @Test func theSameSeedIsTheSameStory() {
        let (one, same, other) = (Self.everything(seed: 1), Self.everything(seed: 1), Self.everything(seed: 2))
        #expect((0..<2_000).map(one.fate(ofRequest:)) == (0..<2_000).map(same.fate(ofRequest:)))
        #expect((0..<2_000).map(one.fate(ofRequest:)) != (0..<2_000).map(other.fate(ofRequest:)))
        #expect((0..<2_000).map(one.fate(ofNotice:)) == (0..<2_000).map(same.fate(ofNotice:)))
    }

    @Test func everyFaultHasItsShare() {
        let chaos = Self.everything(seed: 5)
        var counts: [String: Int] = [:]
        for number in 0..<20_000 as Range<UInt64> {
            let word = "\(chaos.fate(ofRequest: number))".prefix { $0 != "(" }
            counts[String(word), default: 0] += 1
        }
        let expected = [
            "answered": 400, "slow": 100, "timeOut": 50, "reset": 50, "serverError": 100, "tooManyRequests": 50,
            "html": 50, "truncated": 50, "unauthorized": 50, "temporaryStatus": 100,
        ]
        for (word, share) in expected {
            let found = counts[word] ?? 0
            // Four standard deviations of a binomial distribution, and more.
            #expect(abs(found - share * 20) < 250, "\(word): \(found)")
        }
        #expect(counts.values.reduce(0, +) == 20_000)
    }

    @Test func noChaosIsNone() {
        #expect((0..<1_000).allSatisfy { Chaos.none.fate(ofRequest: $0) == .answered })
        #expect((0..<1_000).allSatisfy { Chaos.none.fate(ofNotice: $0) == .delivered })
    }

    private static func simulator() -> AppStoreSimulator {
        AppStoreSimulator(
            SimulatedStore(startingAt: StoreLife.start, seed: 1),
            authority: TestAuthority.shared,
            wallClock: ManualClock(Timestamp(seconds: 1_000))
        )
    }

    /// A client whose token is refused for its time can tell from the answer by how much the clocks differ.
    @Test func aWrongClockShowsInTheAnswers() async {
        let simulator = Self.simulator()
        let run = ChaosRun(simulator) { _ in }
        let handler = run.disturbing(HTTPHandler { _ in HTTPResponse(.unauthorized) })
        let request = HTTPRequest(method: .get, path: "/x")
        #expect(await handler.respond(request).fields["Date"] == nil)
        var chaos = Chaos()
        chaos.clockSkewSeconds = 7_200
        run.set(chaos)
        #expect(simulator.wallTime == Timestamp(seconds: 8_200))
        #expect(await handler.respond(request).fields["Date"] == "Thu, 01 Jan 1970 02:16:40 GMT")
        run.set(.none)
        #expect(simulator.wallTime == Timestamp(seconds: 1_000))
    }

    private func answer(
        _ change: (inout Chaos) -> Void,
        path: String = "/x",
        pause: @escaping @Sendable (Duration) async -> Void = { _ in }
    ) async -> HTTPResponse {
        var chaos = Chaos()
        change(&chaos)
        let run = ChaosRun(Self.simulator(), pause: pause)
        run.set(chaos)
        let handler = HTTPHandler { _ in HTTPResponse(.ok, body: Array("0123456789".utf8)) }
        return await run.disturbing(handler).respond(HTTPRequest(method: .get, path: path))
    }

    @Test func eachFaultLooksLikeApples() async {
        #expect(await answer { _ in }.body.count == 10)
        #expect(await answer { $0.reset = 1_000 } == .hangUp)
        #expect(await answer { $0.truncated = 1_000 }.body == Array("01234".utf8))
        #expect(await answer { $0.unauthorized = 1_000 } == HTTPResponse(.unauthorized))
        let page = await answer { $0.html = 1_000 }
        #expect(page.status == .ok)
        #expect(page.fields["Content-Type"] == "text/html")
        let tooMany = await answer { $0.tooManyRequests = 1_000 }
        #expect(tooMany.status == .tooManyRequests)
        #expect(tooMany.fields["Retry-After"] == "1002000")
        #expect(await answer { $0.serverError = 1_000 }.status.rawValue >= 500)
        let status = await answer({ $0.temporaryStatus = 1_000 }, path: "/production/verifyReceipt")
        #expect(status.status == .ok)
        #expect(String(decoding: status.body, as: UTF8.self).hasPrefix(#"{"status":210"#))
        await confirmation { waited in
            let late = await answer(
                { $0.slow = 1_000 },
                pause: { duration in
                    #expect(duration >= .seconds(3) && duration <= .seconds(6))
                    waited()
                }
            )
            #expect(late.body.count == 10)
        }
        await confirmation { waited in
            let never = await answer(
                { $0.timeOut = 1_000 },
                pause: { duration in
                    #expect(duration == .seconds(60))
                    waited()
                }
            )
            #expect(never == .hangUp)
        }
    }
}
