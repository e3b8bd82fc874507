import HTTP
import Jobs
import Pipeline
import PurchaseModel
import Simulator
import Storage
import Testing

/// What Apple could not deliver is found and fetched.
@Suite struct NotificationComparisonTests {
    @Test func whatWasMissedIsRecovered() async throws {
        try await WorkHouse().open { house in
            try await house.queue.enqueue(NotificationComparison(app: house.app.id, store: .production))
            let first = try house.buy("coins.100")
            await house.sender.deliverDue()
            // We are away: Apple tries in vain.
            house.inbox.open(false)
            let second = try house.buy("coins.100")
            await house.sender.deliverDue()
            #expect(try await house.recorded(first.id) != nil)
            #expect(try await house.recorded(second.id) == nil)

            // From the first event on, a week at a time, then the present.
            house.pass(.seconds(1_200))
            for _ in 0..<40 {
                try await house.work()
                house.clock.advance(by: .seconds(2))
            }
            #expect(try await house.recorded(second.id) != nil)
            let watch = try #require(try await house.watch())
            #expect((watch.sent, watch.arrived, watch.recovered) == (2, 1, 1))

            // Apple's own next try brings nothing new, and counts nothing twice.
            house.inbox.open(true)
            house.pass(.seconds(4 * 3_600))
            await house.sender.deliverDue()
            for _ in 0..<3 {
                try await house.work()
                house.pass(.seconds(3_600))
            }
            let later = try #require(try await house.watch())
            #expect((later.sent, later.arrived, later.recovered) == (2, 1, 1))
            #expect(later.comparedUntil > watch.comparedUntil)
        }
    }

    /// More than Apple gives at once: a week of it is taken in parts, each noted.
    @Test func whatIsTooMuchForOneLookComesThroughInParts() async throws {
        try await WorkHouse().open { house in
            // The ledger begins.
            try house.buy("coins.100")
            await house.sender.deliverDue()
            house.inbox.open(false)
            for _ in 0..<6 * 24 {
                try house.buy("coins.100")
                await house.sender.deliverDue()
                house.pass(.seconds(3_607))
            }
            try await house.queue.enqueue(NotificationComparison(app: house.app.id, store: .production))
            let refusal = HTTPResponse(.tooManyRequests)
            for _ in 0..<400 {
                // Three pages of twenty each time.
                house.script.set("/notifications/history", refusal, after: 3)
                try await house.work()
                house.clock.advance(by: .seconds(900))
            }
            let watch = try #require(try await house.watch())
            #expect(watch.comparedUntil.advanced(by: .seconds(2 * 86_400)) > house.clock.now)
            #expect((watch.arrived, watch.recovered) == (1, 6 * 24))
            #expect(try await house.deadLetters() == [])
        }
    }

    /// One of them does not verify, as when a setting is wrong or a certificate is new. It holds nothing up, and is not lost.
    @Test func whatCouldNotBeTakenInIsReadAgain() async throws {
        try await WorkHouse().open { house in
            try house.buy("coins.100")
            await house.sender.deliverDue()
            house.inbox.open(false)
            let missed = try house.buy("coins.100")
            await house.sender.deliverDue()
            house.pass(.seconds(1_200))
            try await house.queue.enqueue(NotificationComparison(app: house.app.id, store: .production))
            house.script.spoil("/notifications/history")
            for _ in 0..<3 {
                try await house.work()
                house.pass(.seconds(3_600))
            }
            let watch = try #require(try await house.watch())
            #expect(watch.comparedUntil.advanced(by: .seconds(3 * 3_600)) > house.clock.now)
            #expect(try await house.recorded(missed.id) == nil)
            // It is there again and again, and nothing says so any more once it is right.
            for _ in 0..<3 {
                house.pass(.seconds(6 * 3_600))
                try await house.work()
            }
            #expect(try await house.recorded(missed.id) == nil)
            #expect(try await house.waits(for: NotificationRetry.kind))
            house.script.spoil(nil)
            house.pass(.seconds(6 * 3_600))
            try await house.work()
            #expect(try await house.recorded(missed.id) != nil)
            #expect(try await !house.waits(for: NotificationRetry.kind))
        }
    }

    /// What nobody will ever be able to take in costs ever less.
    @Test func whatStaysBehindIsReadEverMoreSeldom() async throws {
        try await WorkHouse().open { house in
            try house.buy("coins.100")
            await house.sender.deliverDue()
            house.pass(.seconds(1_200))
            let (start, end) = (house.clock.now.advanced(by: .seconds(-3_600)), house.clock.now)
            let reading = NotificationReading(app: house.app.id, store: .production, from: start, until: end)
            try await house.queue.enqueue(NotificationRetry(reading))
            house.script.spoil("/notifications/history")
            for _ in 0..<170 * 4 {
                try await house.work()
                house.pass(.seconds(6 * 3_600))
            }
            #expect(try await house.waits(for: NotificationRetry.kind))
            #expect((10..<60).contains(house.calls.values.count), "\(house.calls.values.count) calls")
            for _ in 0..<20 * 4 {
                try await house.work()
                house.pass(.seconds(6 * 3_600))
            }
            #expect(try await !house.waits(for: NotificationRetry.kind))
        }
    }

    /// The key was taken out for a while, or only another server has it.
    @Test func whatStaysBehindIsNotForgottenByWhoCannotAsk() async throws {
        try await WorkHouse(hasAccount: false).open { house in
            let (start, end) = (house.clock.now.advanced(by: .seconds(-3_600)), house.clock.now)
            let reading = NotificationReading(app: house.app.id, store: .production, from: start, until: end)
            try await house.queue.enqueue(NotificationRetry(reading))
            for _ in 0..<170 {
                try await house.work()
                house.pass(.seconds(86_400))
            }
            #expect(try await house.waits(for: NotificationRetry.kind))
            for _ in 0..<20 {
                try await house.work()
                house.pass(.seconds(86_400))
            }
            #expect(try await !house.waits(for: NotificationRetry.kind))
        }
    }

    /// An hour that is to be read once more, and first met a server without the key, is read by one that has it.
    @Test func whatIsToBeReadOutlastsAServerWithoutTheKey() async throws {
        try await WorkHouse().open { house in
            house.inbox.open(false)
            let missed = try house.buy("coins.100")
            await house.sender.deliverDue()
            house.pass(.seconds(1_200))
            let (start, end) = (house.clock.now.advanced(by: .seconds(-3_600)), house.clock.now)
            let reading = NotificationReading(app: house.app.id, store: .production, from: start, until: end)
            try await house.queue.enqueue(reading)
            for _ in 0..<100 {
                house.pass(.seconds(86_400))
                try await house.work(hasKey: false)
            }
            #expect(try await house.recorded(missed.id) == nil)
            house.pass(.seconds(86_400))
            try await house.work()
            #expect(try await house.recorded(missed.id) != nil)
            #expect(try await !house.waits(for: NotificationRetry.kind))
        }
    }

    /// Our clock is hours ahead of Apple's: what Apple has not lived yet is not passed over.
    @Test func aClockThatIsAheadPassesNothingOver() async throws {
        try await WorkHouse().open { house in
            let ahead = Duration.seconds(3 * 3_600)
            var chaos = Chaos.none
            chaos.clockSkewSeconds = -3 * 3_600
            house.chaos.set(chaos)
            house.clock.advance(by: ahead)
            try await house.queue.enqueue(NotificationComparison(app: house.app.id, store: .production))
            let old = try house.buy("coins.100")
            await house.sender.deliverDue()
            house.inbox.open(false)
            var sold = [old]
            for _ in 0..<12 {
                house.pass(.seconds(1_800))
                sold.append(try house.buy("coins.100"))
                await house.sender.deliverDue()
                try await house.work()
                let watch = try #require(try await house.watch())
                #expect(watch.comparedUntil <= house.clock.now.advanced(by: .zero - ahead))
                #expect(try await house.deadLetters() == [])
            }
            house.pass(.seconds(2 * 3_600))
            for _ in 0..<4 {
                try await house.work()
                house.pass(.seconds(3_600))
            }
            for sold in sold { #expect(try await house.recorded(sold.id) != nil) }
            #expect(house.calls.values.count < 60, "\(house.calls.values.count) calls")
        }
    }

    /// It was noted by a clock that has been set right since.
    @Test func whatWasComparedUntilTheFutureIsComparedAgain() async throws {
        try await WorkHouse().open { house in
            let (app, realm) = (house.app.id, Realm(environment: .production, isTestSigned: true))
            let until = house.clock.now.advanced(by: .seconds(30 * 86_400))
            try await house.store.write { transaction throws(StoreFailure) in
                try transaction.noteWatch(NotificationWatch(app: app, realm: realm, comparedUntil: until))
            }
            house.inbox.open(false)
            let missed = try house.buy("coins.100")
            await house.sender.deliverDue()
            house.pass(.seconds(3_600))
            try await house.queue.enqueue(NotificationComparison(app: app, store: .production))
            for _ in 0..<3 {
                try await house.work()
                house.pass(.seconds(3_600))
            }
            #expect(try await house.recorded(missed.id) != nil)
            let watch = try #require(try await house.watch())
            #expect(watch.comparedUntil < house.clock.now)
        }
    }

    /// What it went back over is taken off, and counted anew with what had been passed over.
    @Test func whatIsComparedAgainIsCountedOnce() async throws {
        try await WorkHouse().open { house in
            try await house.queue.enqueue(NotificationComparison(app: house.app.id, store: .production))
            func pass(hours: Int) async throws {
                for _ in 0..<hours {
                    house.pass(.seconds(3_600))
                    try await house.work()
                    house.clock.advance(by: .seconds(2))
                    try await house.work()
                }
            }
            for days in 0..<10 {
                house.inbox.open(days % 2 == 0)
                try house.buy("coins.100")
                await house.sender.deliverDue()
                try await pass(hours: 24)
            }
            let before = try #require(try await house.watch())
            #expect((before.sent, before.arrived, before.recovered) == (10, 5, 5))
            var ahead = before
            ahead.goOn(to: house.clock.now.advanced(by: .seconds(30 * 86_400)), sent: 0, arrived: 0, recovered: 0)
            let noted = ahead
            try await house.store.write { transaction throws(StoreFailure) in try transaction.noteWatch(noted) }
            house.inbox.open(false)
            try house.buy("coins.100")
            await house.sender.deliverDue()
            try await pass(hours: 24)
            let after = try #require(try await house.watch())
            #expect((after.sent, after.arrived, after.recovered) == (11, 5, 6))
            #expect(after.comparedUntil > before.comparedUntil && after.comparedUntil < house.clock.now)
        }
    }

    /// A day of each trouble, looked at every minute.
    @Test(arguments: ProofDecisionTests.Trouble.allCases)
    func noTroubleMovesAnythingOrMakesALoop(trouble: ProofDecisionTests.Trouble) async throws {
        try await WorkHouse().open { house in
            try await house.queue.enqueue(NotificationComparison(app: house.app.id, store: .production))
            house.chaos.set(trouble.always)
            for _ in 0..<1_440 {
                try await house.work()
                house.pass(.seconds(60))
            }
            // Where it began is noted, whatever Apple says.
            let began = try #require(try await house.watch())
            #expect(began.version == 1)
            // A minute, then twice as long, then every three quarters of an hour and more.
            #expect((1...40).contains(house.calls.values.count), "\(house.calls.values.count) calls")
            #expect(try await house.deadLetters() == [])
            house.chaos.set(.none)
            house.pass(.seconds(2 * 3_600))
            try await house.work()
            #expect(try await house.watch()?.version != 1)
        }
    }

    /// Another system was told of it, and has delivered it.
    @Test func whatWasSoldBeforeTheLedgerBeganIsNotDeliveredAgain() async throws {
        try await WorkHouse().open { house in
            let old = try house.buy("coins.100")
            house.inbox.open(false)
            await house.sender.deliverDue()
            house.pass(.seconds(20 * 86_400))
            try await house.queue.enqueue(NotificationComparison(app: house.app.id, store: .production))
            try await house.work()
            let new = try house.buy("coins.100")
            await house.sender.deliverDue()
            for _ in 0..<4 {
                house.pass(.seconds(3_600))
                try await house.work()
            }
            #expect(try await house.recorded(old.id) == nil)
            #expect(try await house.recorded(new.id) != nil)
            let watch = try #require(try await house.watch())
            #expect((watch.sent, watch.recovered) == (1, 1))
        }
    }

    /// Another server may have its key: its comparison stays, until nothing could be compared any more.
    @Test(arguments: [true, false]) func anAppWithoutAKeyIsLeftAlone(hasAccount: Bool) async throws {
        try await WorkHouse(hasAccount: hasAccount, hasKey: false).open { house in
            try await house.queue.enqueue(NotificationComparison(app: house.app.id, store: .production))
            for _ in 0..<178 {
                try await house.work()
                house.pass(.seconds(86_400))
            }
            #expect(try await house.waits(for: NotificationComparison.kind))
            for _ in 0..<2 {
                try await house.work()
                house.pass(.seconds(86_400))
            }
            #expect(try await !house.waits(for: NotificationComparison.kind))
            #expect(house.calls.values.isEmpty)
            #expect(try await house.watch() == nil)
        }
    }

    /// It looked well a hundred times: one failure after that is tried again in a minute, and not in an hour.
    @Test func aFailureAfterManyLooksIsSoonTriedAgain() async throws {
        try await WorkHouse().open { house in
            try await house.queue.enqueue(NotificationComparison(app: house.app.id, store: .production))
            for _ in 0..<100 {
                try await house.work()
                house.pass(.seconds(3_600))
            }
            house.script.set("/notifications/history", HTTPResponse(.serviceUnavailable))
            try await house.work()
            let calls = house.calls.values.count
            house.script.set("/notifications/history", nil)
            house.pass(.seconds(100))
            try await house.work()
            #expect(house.calls.values.count > calls)
        }
    }
}

extension WorkHouse {
    fileprivate func watch() async throws -> NotificationWatch? {
        let (app, realm) = (app.id, Realm(environment: .production, isTestSigned: true))
        return try await store.read { reader throws(StoreFailure) in
            try reader.notificationWatch(app: app, realm: realm)
        }
    }
}
