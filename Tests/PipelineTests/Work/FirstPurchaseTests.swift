import AppStore
import HTTP
import Pipeline
import PurchaseModel
import Simulator
import Storage
import Testing

/// What a customer bought before is asked for once, when the first purchase is recorded, where the app wants it.
@Suite struct FirstPurchaseTests {
    private static let page = "/inApps/v2/history/"

    private static func house(hasAccount: Bool = true, hasKey: Bool = true) throws -> WorkHouse {
        let house = try WorkHouse(hasAccount: hasAccount, hasKey: hasKey, readsHistory: true)
        house.inbox.open(false)
        return house
    }

    /// Lets a customer buy once, and some more of which her proof tells nothing.
    private static func buy(_ house: WorkHouse, before products: [String]) throws -> (
        proof: [UInt8], old: [SoldTransaction]
    ) {
        let first = try house.buy("coins.100")
        let proof = try house.receipt()
        let old = try products.map { try house.buy($0) }
        #expect(!old.map(\.id).contains(first.id))
        return (proof, old)
    }

    private static func work(_ house: WorkHouse, rounds: Int = 10) async throws {
        for _ in 0..<rounds {
            try await house.work()
            house.pass(.seconds(10))
        }
    }

    private static func histories(_ house: WorkHouse) -> [String] {
        house.calls.values.filter { $0.contains(page) }
    }

    private static func waiting(_ house: WorkHouse) async throws -> Int {
        let figures = try await house.store.read { reader throws(StoreFailure) in try reader.jobFigures() }
        return figures.first { $0.kind == CustomerReading.kind }?.counts[.pending] ?? 0
    }

    /// How much the shop was told.
    private static func told(_ house: WorkHouse) async throws -> Int {
        let app = house.app.id
        return try await house.store.read { reader throws(StoreFailure) in
            try reader.events(
                app: app,
                after: .start,
                where: EventFilter(realms: Set(Realm.known)),
                limit: EventPage.limitMax
            ).events.count
        }
    }

    private static func fulfilment(_ house: WorkHouse, _ sold: SoldTransaction) async throws -> Fulfilment? {
        guard let recorded = try await house.recorded(sold.id) else { return nil }
        return try await house.store.read { reader throws(StoreFailure) in
            try reader.fulfilments([recorded.chain]).first { $0.transaction == recorded.key }
        }
    }

    @Test func whatWasBoughtBeforeIsRecordedOnceAndGivenToNobody() async throws {
        try await Self.house().open { house in
            let (proof, old) = try Self.buy(
                house,
                before: ["coins.100", "coins.100", "sword", "pro.monthly", "coins.1000"]
            )
            _ = try house.simulator.perform(.decideRefund(old[1].id, .full))
            _ = try await house.submit(proof)
            let heard = try await Self.told(house)
            #expect(heard > 0)
            // It is written down with the purchase.
            #expect(try await Self.waiting(house) == 1)
            try await Self.work(house)
            #expect(Self.histories(house).count == 1)
            for (place, sold) in old.enumerated() {
                let recorded = try #require(try await house.recorded(sold.id))
                #expect(recorded.customer == nil)
                #expect((recorded.transaction.revocation != nil) == (place == 1))
                let fulfilment = try #require(try await Self.fulfilment(house, sold))
                #expect(fulfilment.state != .granted && fulfilment.customer == nil)
            }
            #expect(try await Self.told(house) == heard)
            // Once more, by the same and by more proofs, is no new question.
            _ = try await house.submit(proof)
            _ = try house.buy("coins.100")
            _ = try await house.submit(try house.receipt())
            #expect(try await house.recorded(old[2].id)?.customer?.text == "ann")
            #expect(try await Self.waiting(house) == 0)
        }
    }

    @Test func eachPageIsAskedForOnceWhateverComesInBetween() async throws {
        try await Self.house().open { house in
            let (proof, old) = try Self.buy(house, before: Array(repeating: "coins.100", count: 44))
            _ = try await house.submit(proof)
            house.script.set(Self.page, HTTPResponse(.serviceUnavailable), after: 1)
            try await Self.work(house, rounds: 3)
            let known = try await old.asyncCount { try await house.recorded($0.id) != nil }
            #expect(known == 19)
            #expect(try await house.deadLetters() == [])
            house.script.set("", nil)
            house.pass(.seconds(3_600))
            try await Self.work(house)
            #expect(try await old.asyncCount { try await house.recorded($0.id) != nil } == 44)
            let calls = Self.histories(house)
            #expect(calls.count { !$0.contains("revision=") } == 1)
            #expect(Set(calls).count == 3)
            #expect(try await Self.waiting(house) == 0)
        }
    }

    @Test func whenAppleSaysNotNowNothingIsAskedBefore() async throws {
        try await Self.house().open { house in
            let (proof, old) = try Self.buy(house, before: ["sword"])
            _ = try await house.submit(proof)
            var answer = HTTPResponse(.tooManyRequests)
            answer.fields["Retry-After"] = "\(house.clock.now.advanced(by: .seconds(1_800)).milliseconds)"
            house.script.set(Self.page, answer)
            try await Self.work(house)
            #expect(Self.histories(house).count == 1)
            house.script.set("", nil)
            house.pass(.seconds(1_600))
            try await Self.work(house, rounds: 1)
            #expect(Self.histories(house).count == 1)
            house.pass(.seconds(2_400))
            try await Self.work(house)
            #expect(try await house.recorded(old[0].id) != nil)
            #expect(try await house.deadLetters() == [])
        }
    }

    @Test func anIDThatAppleDoesNotKnowYetIsAskedAboutAgain() async throws {
        try await Self.house().open { house in
            let (proof, old) = try Self.buy(house, before: ["sword"])
            _ = try await house.submit(proof)
            let unknown = #"{"errorCode": 4040010, "errorMessage": "Transaction id not found."}"#
            house.script.set(Self.page, HTTPResponse(.notFound, body: Array(unknown.utf8)))
            try await Self.work(house, rounds: 2)
            #expect(try await house.recorded(old[0].id) == nil)
            house.script.set("", nil)
            try await Self.work(house, rounds: 20)
            #expect(try await house.recorded(old[0].id) != nil)
        }
    }

    @Test func aPlaceThatAppleTakesNoMoreBeginsAnew() async throws {
        try await Self.house().open { house in
            let (proof, old) = try Self.buy(house, before: Array(repeating: "coins.100", count: 24))
            _ = try await house.submit(proof)
            let refusal = #"{"errorCode": 4000005, "errorMessage": "Invalid request revision."}"#
            house.script.set("revision=", HTTPResponse(.badRequest, body: Array(refusal.utf8)))
            try await Self.work(house)
            #expect(try await old.asyncCount { try await house.recorded($0.id) != nil } == 19)
            house.script.set("", nil)
            house.pass(.seconds(3_600))
            try await Self.work(house)
            #expect(try await old.asyncCount { try await house.recorded($0.id) != nil } == 24)
            #expect(Self.histories(house).count { !$0.contains("revision=") } == 2)
        }
    }

    @Test func whatIsAnothersStaysAnothers() async throws {
        try await Self.house().open { house in
            _ = try house.buy("sword")
            _ = try await house.submit(try house.receipt(), customer: "bob")
            try await Self.work(house)
            let coins = try house.buy("coins.100")
            let sword = try #require(house.simulator.read { $0.transactions.values.first { $0.id != coins.id } })
            _ = try await house.submit(Array(coins.id.description.utf8), customer: "ann")
            try await Self.work(house)
            #expect(Self.histories(house).count == 2)
            #expect(try await house.recorded(coins.id)?.customer?.text == "ann")
            #expect(try await house.recorded(sword.id)?.customer?.text == "bob")
            #expect(try await Self.fulfilment(house, sword)?.customer?.text == "bob")
        }
    }

    /// Whoever was given another's has bought nothing yet.
    @Test func whatWasMovedToHerIsNoPurchaseOfHers() async throws {
        try await Self.house().open { house in
            let sword = try house.buy("sword")
            _ = try await house.submit(try house.receipt(), customer: "bob")
            try await Self.work(house)
            let moved = try #require(try await house.recorded(sword.id)).chain
            let (ann, now) = (CustomerID(checked: "ann"), house.clock.now)
            _ = try await house.store.write { write throws(StoreFailure) in
                try LedgerRequests.transfer(moved, to: ann, isDryRun: false, at: now, in: write)
            }
            for calls in [2, 2] {
                _ = try await house.submit(Array(try house.buy("coins.100").id.description.utf8), customer: "ann")
                try await Self.work(house)
                #expect(Self.histories(house).count == calls)
            }
        }
    }

    @Test func nobodyIsAskedWhereTheAppDoesNotWantIt() async throws {
        try await WorkHouse().open { house in
            house.inbox.open(false)
            _ = try house.buy("sword")
            _ = try await house.submit(try house.receipt())
            try await Self.work(house)
            #expect(house.calls.values.isEmpty)
        }
    }

    @Test(arguments: [(hasAccount: true, hasKey: false), (false, false)])
    func withoutAKeyThePlanComesToAnEnd(hasAccount: Bool, hasKey: Bool) async throws {
        try await Self.house(hasAccount: hasAccount, hasKey: hasKey).open { house in
            let (proof, _) = try Self.buy(house, before: ["sword"])
            _ = try await house.submit(proof)
            try await Self.work(house)
            // A server that has the key may be there.
            #expect(try await Self.waiting(house) == 1)
            house.pass(.seconds(86_400))
            try await Self.work(house)
            #expect(house.calls.values.isEmpty)
            #expect(try await Self.waiting(house) == 0)
            #expect(try await house.deadLetters() == [])
        }
    }
}

extension Sequence {
    fileprivate func asyncCount(where body: (Element) async throws -> Bool) async throws -> Int {
        var count = 0
        for element in self where try await body(element) { count += 1 }
        return count
    }
}
