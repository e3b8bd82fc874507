import Pipeline
import PurchaseModel
import TestSupport
import Testing

@Suite struct WebhookGateTests {
    private static let start = Timestamp(seconds: 1_795_219_200)

    /// A gate and the time that a test lets pass.
    private struct Door {
        var gate = WebhookGate()
        var now = WebhookGateTests.start

        init(concurrencyMax: Int = 100, perSecondMax: Int? = nil) {
            gate.setLimits(concurrencyMax: concurrencyMax, perSecondMax: perSecondMax, at: now)
        }

        mutating func pass(_ seconds: Int) { now = now.advanced(by: .seconds(seconds)) }
        mutating func room() -> Int { gate.room(at: now) }

        /// One call after the other.
        mutating func call(_ verdicts: WebhookVerdict...) {
            for verdict in verdicts {
                gate.begin(1)
                gate.end(verdict, at: now)
            }
        }
    }

    @Test func theWindowGrowsWithSuccessAndFallsWithFailure() {
        var door = Door(concurrencyMax: 4)
        #expect(door.room() == 1 && !door.gate.isProven)
        door.call(.delivered)
        #expect(door.room() == 2 && door.gate.isProven)
        door.call(.delivered, .delivered, .delivered, .delivered)
        #expect(door.room() == 4)
        door.gate.begin(3)
        #expect(door.room() == 1)
        door.gate.begin(1)
        #expect(door.room() == 0)
        door.gate.end(.failed(nil), at: door.now)
        #expect(door.room() == 0 && !door.gate.isProven)
        door.gate.giveBack(3)
        #expect(door.room() == 1)
    }

    @Test func ofAnotherVersionNothingIsKnown() {
        var door = Door()
        door.gate.setVersion(1)
        door.call(.failed(nil), .failed(nil), .failed(nil), .failed(nil), .failed(nil))
        door.gate.setVersion(1)
        #expect(door.gate.isOpen && door.room() == 0)
        door.gate.setVersion(2)
        #expect(!door.gate.isOpen && door.room() == 1)
        // What is under way still is.
        door.call(.delivered, .delivered)
        door.gate.begin(2)
        door.gate.setVersion(3)
        #expect(!door.gate.isProven && door.room() == 0)
        door.gate.giveBack(2)
        #expect(door.room() == 1)
    }

    @Test func whatIsUnknownGetsOneCall() {
        var gate = WebhookGate()
        gate.begin(1)
        gate.end(.delivered, at: Self.start)
        #expect(gate.room(at: Self.start) == 1)
    }

    @Test func theBreakerOpensAfterFailuresInARow() {
        var door = Door()
        door.call(.failed(nil), .failed(nil), .failed(nil), .failed(nil))
        #expect(door.room() == 1 && !door.gate.isOpen)
        door.call(.delivered, .failed(nil), .failed(nil), .failed(nil), .failed(nil))
        #expect(door.room() == 1 && !door.gate.isOpen)
        door.call(.failed(nil))
        #expect(door.room() == 0 && door.gate.isOpen && !door.gate.isIdle)
        door.pass(29)
        #expect(door.room() == 0)
        door.pass(1)
        #expect(door.room() == 1)
        door.gate.begin(1)
        #expect(door.room() == 0)
        door.gate.end(.delivered, at: door.now)
        #expect(door.room() == 2 && !door.gate.isOpen && door.gate.isIdle)
    }

    @Test func eachProbeThatFailsDoublesThePause() {
        var door = Door()
        for _ in 0..<WebhookGate.failuresMax { door.call(.failed(nil)) }
        for pause in [30, 60, 120, 240, 480, 600, 600, 600] {
            door.pass(pause - 1)
            #expect(door.room() == 0, "\(pause)")
            door.pass(1)
            #expect(door.room() == 1, "\(pause)")
            door.call(.failed(nil))
        }
        door.pass(600)
        door.call(.delivered)
        for _ in 0..<WebhookGate.failuresMax { door.call(.failed(nil)) }
        door.pass(30)
        #expect(door.room() == 1)
    }

    /// It failed while the clock was hours ahead, and is not left alone until that time comes.
    @Test func aClockThatIsSetBackDoesNotKeepItShut() {
        for verdict in [WebhookVerdict.failed(nil), .throttled(nil), .throttled(.seconds(86_400))] {
            var door = Door()
            door.pass(10_800)
            for _ in 0..<WebhookGate.failuresMax { door.call(verdict) }
            #expect(door.room() == 0)
            door.pass(-10_800)
            #expect(door.room() == 1)
            door.call(verdict)
            #expect(door.room() == 0)
            door.pass(-10_800)
            door.call(.delivered)
            #expect(!door.gate.isOpen)
        }
    }

    @Test func whatFailsWhileItIsOpenIsNoProbe() {
        var door = Door()
        for _ in 0..<20 { door.call(.delivered) }
        door.gate.begin(20)
        for _ in 0..<20 { door.gate.end(.failed(nil), at: door.now) }
        door.pass(30)
        #expect(door.room() == 1)
        // What we broke off ourselves says nothing.
        door.call(.notTried)
        #expect(door.room() == 1 && door.gate.isOpen)
    }

    /// For one message it may be a day; the others do not wait for that longer than the breaker has them wait.
    @Test(arguments: [(nil, 5), (0, 0), (60, 60), (600, 600), (3_600, 600), (86_400, 600)] as [(Int?, Int)])
    func whoHasTooMuchToDoIsLeftAlone(wanted: Int?, pause: Int) {
        var door = Door()
        door.call(.delivered, .delivered, .throttled(wanted.map { .seconds($0) }))
        if pause > 0 {
            door.pass(pause - 1)
            #expect(door.room() == 0)
            door.pass(1)
        }
        #expect(door.room() == 1 && !door.gate.isOpen)
    }

    @Test func aPersonReopensIt() {
        var door = Door()
        door.call(.throttled(.seconds(86_400)))
        #expect(door.room() == 0)
        door.gate.reopen()
        #expect(door.room() == 1 && door.gate.closedUntil(at: door.now) == nil)
        for _ in 0..<WebhookGate.failuresMax { door.call(.failed(nil)) }
        door.gate.reopen()
        #expect(door.room() == 1 && door.gate.isOpen, "one probe tells whether it answers")
        door.call(.failed(nil))
        #expect(door.room() == 0)
        door.pass(59)
        #expect(door.room() == 0, "what had failed is not forgotten")
    }

    @Test func theRateIsBounded() {
        var door = Door(perSecondMax: 3)
        for _ in 0..<10 { door.gate.begin(1); door.gate.end(.delivered, at: door.now); door.pass(1) }
        #expect(door.room() == 3)
        door.gate.begin(2)
        #expect(door.room() == 1)
        door.gate.begin(1)
        #expect(door.room() == 0)
        door.now = door.now.advanced(by: .milliseconds(333))
        #expect(door.room() == 0)
        door.now = door.now.advanced(by: .milliseconds(1))
        #expect(door.room() == 1)
        // What was to begin and did not is given back.
        door.gate.begin(1)
        door.gate.giveBack(1)
        #expect(door.room() == 1)
        door.gate.setLimits(concurrencyMax: 100, perSecondMax: nil, at: door.now)
        #expect(door.room() == 8)
    }

    /// A first call is under way when the claim for it tells what the endpoint wants.
    @Test func whatBeganBeforeTheRateWasKnownCounts() {
        var door = Door()
        door.gate.begin(1)
        door.gate.setLimits(concurrencyMax: 100, perSecondMax: 1, at: door.now)
        door.gate.end(.delivered, at: door.now)
        #expect(door.room() == 0)
        door.pass(1)
        #expect(door.room() == 1)
    }

    @Test(arguments: UInt64(0)..<100)
    func noRowOfEventsBreaksTheBounds(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let concurrencyMax = Int.random(in: 1...10, using: &random)
        var door = Door(concurrencyMax: concurrencyMax, perSecondMax: Int.random(in: 1...20, using: &random))
        var underWay = 0
        for _ in 0..<300 {
            let room = door.room()
            #expect(room >= 0 && room + underWay <= concurrencyMax || room == 0)
            let begun = Int.random(in: 0...room, using: &random)
            door.gate.begin(begun)
            underWay += begun
            if underWay > 0, Bool.random(using: &random) {
                let verdicts: [WebhookVerdict] = [
                    .delivered, .delivered, .failed(nil), .throttled(nil), .notTried, .gone,
                ]
                door.gate.end(verdicts[Int.random(in: 0..<6, using: &random)], at: door.now)
                underWay -= 1
            }
            if seed % 2 == 0 { door.pass(Int.random(in: -1...40, using: &random)) }
        }
        while underWay > 0 {
            door.gate.end(.delivered, at: door.now)
            underWay -= 1
        }
        door.pass(1_000)
        #expect(door.room() > 0, "whatever happened, it is asked again")
    }
}

@Suite struct WebhookLanesTests {
    @Test func theDoubtfulLeaveRoomForTheProven() {
        var lanes = WebhookLanes(callsMax: 10, doubtfulMax: 4)
        lanes.begin(4, isProven: false)
        #expect(Self.rooms(lanes) == [0, 0, 5, 5])
        lanes.begin(5, isProven: true)
        #expect(Self.rooms(lanes) == [0, 0, 0, 1])
        lanes.begin(1, isProven: true)
        #expect(Self.rooms(lanes) == [0, 0, 0, 0])
        lanes.end(isProven: false)
        #expect(Self.rooms(lanes) == [0, 1, 0, 1])
        lanes.end(3, isProven: false)
        lanes.end(6, isProven: true)
        #expect(lanes.isEmpty)
        lanes.begin(8, isProven: true)
        #expect(Self.rooms(lanes) == [1, 1, 1, 1])
    }

    /// Each row: how many of 64 are free, and how many of these may begin where calls are under way, and where none are.
    @Test(arguments: [
        (64, 56, 56), (20, 12, 12), (16, 8, 8), (9, 1, 5), (8, 0, 4), (4, 0, 2), (2, 0, 1), (1, 0, 1), (0, 0, 0),
    ])
    func anEighthIsKeptForWhoHasNothing(free: Int, busy: Int, others: Int) {
        var lanes = WebhookLanes(callsMax: 64, doubtfulMax: 64)
        lanes.begin(64 - free, isProven: true)
        #expect(Self.rooms(lanes) == [busy, others, busy, others])
    }

    /// Of the doubtful that are busy and that are not, then of the proven.
    private static func rooms(_ lanes: WebhookLanes) -> [Int] {
        [false, true].flatMap { isProven in
            [true, false].map { lanes.room(isProven: isProven, isBusy: $0) }
        }
    }
}

@Suite struct TokenBucketTests {
    @Test func aClockThatGoesBackGivesNothing() {
        let start = Timestamp(seconds: 1_000)
        var bucket = TokenBucket(perSecond: 2, at: start)
        bucket.take(2)
        #expect(bucket.count(at: start.advanced(by: .seconds(-500))) == 0)
        #expect(bucket.count(at: start.advanced(by: .seconds(-500) + .milliseconds(500))) == 1)
        #expect(bucket.count(at: Timestamp(milliseconds: .max)) == 2)
    }
}
