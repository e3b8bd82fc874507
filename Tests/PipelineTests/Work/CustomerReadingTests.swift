import AppStore
import HTTP
import Jobs
import Pipeline
import PurchaseModel
import Simulator
import Storage
import Testing

/// What Apple has on record of customers is asked for where nobody told of it.
@Suite struct CustomerReadingTests {
    private static func plan(
        _ house: WorkHouse,
        _ subject: CustomerReading.Subject,
        since start: Timestamp = WorkHouse.start
    ) async throws -> Int {
        let account = try #require(house.accounts[house.app.id])
        return try await house.reconciliation.planReadings(
            subject,
            account,
            boughtSince: start,
            spacing: .seconds(10)
        )
    }

    private static func work(_ house: WorkHouse) async throws {
        for _ in 0..<10 {
            try await house.work()
            house.pass(.seconds(10))
        }
    }

    @Test func aRefundThatNobodyToldOfIsFound() async throws {
        try await WorkHouse().open { house in
            house.inbox.open(false)
            let sold = try (0..<3).map { _ in try house.buy("coins.100") }
            _ = try await house.submit(try house.receipt())
            _ = try house.simulator.perform(.decideRefund(sold[1].id, .full))
            #expect(try await Self.plan(house, .refunds) == 1)
            // The same customer once more is one job.
            #expect(try await Self.plan(house, .refunds) == 1)
            try await Self.work(house)
            #expect(house.calls.values.count { $0.contains("/refund/lookup/") } == 1)
            let taken = try await sold.asyncMap { try await house.recorded($0.id)?.transaction.revocation != nil }
            #expect(taken == [false, true, false])
        }
    }

    /// A notification of version 1 has a receipt, in which no refund of a consumable stands, and nothing that is finished.
    @Test(arguments: [true, false], [true, false])
    func whatVersion1OnlyHintsAtIsAskedAbout(hasKey: Bool, isFinished: Bool) async throws {
        try await WorkHouse(hasKey: hasKey).open { house in
            house.simulator.change { store in
                guard var app = store.apps[DemoCatalogue.bundleID] else { return }
                app.productionNotifications?.version = .one
                store.set(app)
            }
            let sold = try (0..<2).map { _ in try house.buy("coins.100") }
            _ = try await house.submit(try house.receipt())
            house.pass(.seconds(3_600))
            if isFinished { for sold in sold { _ = try house.simulator.perform(.finish(sold.id)) } }
            _ = try house.simulator.perform(.decideRefund(sold[1].id, .full))
            await house.sender.deliverDue()
            try await Self.work(house)
            let taken = try await sold.asyncMap { try await house.recorded($0.id)?.transaction.revocation != nil }
            #expect(taken == [false, hasKey])
            #expect(house.calls.values.count { $0.contains("/refund/lookup/") } == (hasKey ? 1 : 0))
            #expect(try await house.waits(for: CustomerReading.kind) == !hasKey)
            house.pass(.seconds(86_400))
            try await Self.work(house)
            #expect(try await !house.waits(for: CustomerReading.kind))
            #expect(try await house.deadLetters() == [])
        }
    }

    /// Apple lists what one Apple account bought; who has had two is asked about by both.
    @Test func aRefundToASecondAppleAccountIsFound() async throws {
        try await WorkHouse().open { house in
            house.inbox.open(false)
            let sold = try ["anna", "bert", "anna", "bert"].map { try house.buy("coins.100", by: $0) }
            for sold in sold { _ = try await house.submit(Array(sold.id.description.utf8), customer: "ann") }
            try await house.work()
            _ = try house.simulator.perform(.decideRefund(sold[3].id, .full))
            #expect(try await Self.plan(house, .refunds) == 2)
            try await Self.work(house)
            #expect(house.calls.values.count { $0.contains("/refund/lookup/") } == 2)
            let taken = try await sold.asyncMap { try await house.recorded($0.id)?.transaction.revocation != nil }
            #expect(taken == [false, false, false, true])
        }
    }

    @Test func whoBoughtNothingInTimeOrOnlySubscriptionsIsLeftAlone() async throws {
        try await WorkHouse().open { house in
            house.inbox.open(false)
            _ = try house.buy("coins.100")
            _ = try await house.submit(try house.receipt())
            house.pass(.seconds(86_400))
            #expect(try await Self.plan(house, .refunds, since: house.clock.now) == 0)
            _ = try house.buy("pro.monthly")
            _ = try await house.submit(try house.receipt())
            #expect(try await Self.plan(house, .refunds, since: house.clock.now.advanced(by: .seconds(-60))) == 0)
            #expect(house.calls.values.isEmpty)
        }
    }

    @Test func whatWasBoughtBeforeIsRecordedAndWaits() async throws {
        try await WorkHouse().open { house in
            house.inbox.open(false)
            let old = try house.buy("sword")
            let sold = try house.buy("pro.monthly")
            _ = try await house.submit(Array(sold.id.description.utf8))
            try await house.work()
            #expect(try await house.recorded(sold.id) != nil)
            #expect(try await house.recorded(old.id) == nil)
            #expect(try await Self.plan(house, .history) == 1)
            try await Self.work(house)
            let found = try #require(try await house.recorded(old.id))
            #expect(found.customer == nil)
            // She presents it: now it is hers.
            _ = try await house.submit(try house.receipt())
            #expect(try await house.recorded(old.id)?.customer?.text == "ann")
        }
    }

    @Test func anOutageOfApplesIsWaitedFor() async throws {
        try await WorkHouse().open { house in
            house.inbox.open(false)
            let sold = try house.buy("coins.100")
            _ = try await house.submit(try house.receipt())
            _ = try house.simulator.perform(.decideRefund(sold.id, .full))
            var chaos = Chaos.none
            chaos.serverError = 1_000
            house.chaos.set(chaos)
            _ = try await Self.plan(house, .refunds)
            try await Self.work(house)
            #expect(try await house.recorded(sold.id)?.transaction.revocation == nil)
            #expect(try await house.deadLetters() == [])
            house.chaos.set(.none)
            house.pass(.seconds(2 * 3_600))
            try await Self.work(house)
            #expect(try await house.recorded(sold.id)?.transaction.revocation != nil)
        }
    }

    /// A server beside the one with the key has none, or this one lacks it for a while; before that Apple has refused for days.
    @Test(arguments: [1, 60]) func aServerWithoutTheKeyEndsNoReading(days: Int) async throws {
        try await WorkHouse().open { house in
            house.inbox.open(false)
            let sold = try house.buy("coins.100")
            _ = try await house.submit(try house.receipt())
            try await house.queue.enqueue(NotificationComparison(app: house.app.id, store: .production))
            _ = try house.simulator.perform(.decideRefund(sold.id, .full))
            #expect(try await Self.plan(house, .refunds) == 1)
            house.script.set("", HTTPResponse(.unauthorized))
            for _ in 0..<48 {
                try await house.work()
                house.pass(.seconds(3_600))
            }
            house.script.set("", nil)
            for _ in 0..<days {
                try await house.work(hasKey: false)
                house.pass(.seconds(86_400))
            }
            #expect(try await house.recorded(sold.id)?.transaction.revocation == nil)
            #expect(try await house.waits(for: CustomerReading.kind))
            let asked = house.calls.values.count { $0.contains("/refund/lookup/") }
            // One asks first whether the key is taken again, this or the comparison; the other hears of it.
            for _ in 0..<3 {
                try await house.work()
                house.pass(.seconds(1_000))
            }
            #expect(try await house.recorded(sold.id)?.transaction.revocation != nil)
            #expect(house.calls.values.count { $0.contains("/refund/lookup/") } == asked + 1)
            #expect(try await !house.waits(for: CustomerReading.kind))
        }
    }

    /// Once Apple's history has gone by nobody wants it any more, whatever is asked of the app.
    @Test func whatNobodyCouldAskForHalfAYearIsOver() async throws {
        try await WorkHouse().open { house in
            house.inbox.open(false)
            _ = try house.buy("coins.100")
            _ = try await house.submit(try house.receipt())
            try await house.queue.enqueue(NotificationComparison(app: house.app.id, store: .production))
            #expect(try await Self.plan(house, .refunds) == 1)
            for _ in 0..<178 {
                try await house.work(hasKey: false)
                house.pass(.seconds(86_400))
            }
            #expect(try await house.waits(for: CustomerReading.kind))
            for _ in 0..<3 {
                try await house.work(hasKey: false)
                house.pass(.seconds(86_400))
            }
            #expect(try await !house.waits(for: CustomerReading.kind))
            #expect(try await house.deadLetters() == [])
        }
    }

    /// What is none of a transaction's numbers never will be one.
    @Test(arguments: [4_000_006, 4_000_048]) func aNumberThatIsNoneIsAskedAboutOnce(code: Int) async throws {
        try await WorkHouse().open { house in
            house.inbox.open(false)
            _ = try house.buy("coins.100")
            _ = try await house.submit(try house.receipt())
            let body = #"{"errorCode":\#(code),"errorMessage":"no"}"#
            house.script.set("/refund/lookup/", HTTPResponse(.badRequest, body: Array(body.utf8)))
            #expect(try await Self.plan(house, .refunds) == 1)
            try await Self.work(house)
            #expect(try await !house.waits(for: CustomerReading.kind))
            #expect(house.calls.values.count { $0.contains("/refund/lookup/") } == 1)
            #expect(try await house.deadLetters() == [])
        }
    }

    /// What runs may have Apple's answer from before.
    @Test func aPageThatAnEarlierReadingIsAtIsReadAgain() async throws {
        try await WorkHouse().open { house in
            house.inbox.open(false)
            let sold = try (0..<22).map { _ in try house.buy("coins.100") }
            _ = try await house.submit(try house.receipt())
            for sold in sold { _ = try house.simulator.perform(.decideRefund(sold.id, .full)) }
            let first = try #require(try await house.recorded(sold[0].id)).key
            try await house.queue.enqueue(
                CustomerReading(.refunds, of: first, at: CustomerReading.Place(page: 2, revision: "earlier"))
            )
            let owner = LeaseOwner(checked: "another")
            let terms = LeaseTerms(owner: owner, duration: .seconds(30), now: house.clock.now)
            let claim = try await house.store.write { write throws(StoreFailure) in
                try write.claimJobs(kinds: [CustomerReading.kind], .sound(limit: 1), terms: terms)
            }
            try await house.queue.enqueue(CustomerReading(.refunds, of: first))
            try await house.workOnce(on: CustomerReading.kind)
            let ended = claim.jobs.compactMap(\.hold).map { FinishedJob($0, as: .done) }
            #expect(ended.count == 1)
            let now = house.clock.now
            _ = try await house.store.write { write throws(StoreFailure) in try write.finishJobs(ended, at: now) }
            house.pass(.seconds(60))
            try await Self.work(house)
            let taken = try await sold.asyncMap { try await house.recorded($0.id)?.transaction.revocation != nil }
            #expect(taken == sold.map { _ in true })
        }
    }

    @Test func aJobIsReadAsItWasWritten() throws {
        for subject in CustomerReading.Subject.allCases {
            let key = TransactionKey(
                app: try #require(AppID("shop")),
                realm: Realm(environment: .sandbox, isTestSigned: true),
                id: try #require(TransactionID(number: 7))
            )
            for place in [nil, CustomerReading.Place(page: 2, revision: "a b")] {
                for restarts in 0...2 {
                    let job = CustomerReading(subject, of: key, at: place, restarts: restarts)
                    #expect(CustomerReading(payload: job.payload) == job)
                }
            }
        }
        for text in ["", "refunds", "refunds x shop", "all 7/0 shop", "refunds 7/0 shop 2", "refunds 7/0 shop 1 a"] {
            #expect(CustomerReading(payload: Array(text.utf8)) == nil)
        }
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async throws -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await body(element)) }
        return values
    }
}
