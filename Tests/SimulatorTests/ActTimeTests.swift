import PurchaseModel
import Simulator
import TestSupport
import Testing

/// Of what is done at one moment each act has a date of its own.
@Suite struct ActTimeTests {
    private static func milliseconds(_ moment: Timestamp) -> Int64 {
        moment.milliseconds - StoreLife.start.milliseconds
    }

    @Test func eachActIsAMillisecondAfterTheOneBefore() throws {
        var life = StoreLife()
        try life.buy("pro.weekly")
        let weekly = life.subscription("pro.weekly")
        for isOn in [false, true] { try life.perform(.setAutoRenew(weekly, isOn: isOn)) }
        #expect(life.store.notices.map { Self.milliseconds($0.at) } == [0, 1, 2])
        // Apple's last word on the renewal was signed last.
        let line = try life.line()
        #expect(life.store.renewal(of: line).signedAt == StoreLife.start.advanced(by: .milliseconds(2)))
        life.store.advance(to: StoreLife.start.advanced(by: .milliseconds(500)))
        try life.perform(.setAutoRenew(weekly, isOn: false))
        #expect(life.store.notices.map { Self.milliseconds($0.at) } == [0, 1, 2, 500])
    }

    @Test func whatIsRefusedTakesNoTime() throws {
        var life = StoreLife()
        try life.buy("sword")
        let before = (life.store.now, life.store.steadyNow)
        for _ in 0..<3 {
            #expect(throws: ActRefusal.nothingWaits) {
                try life.perform(.answerAskToBuy(customer: "anna", isApproved: true))
            }
        }
        #expect((life.store.now, life.store.steadyNow) == before)
        let bought = try life.buy("coins.100")
        #expect(Self.milliseconds(bought.fact.purchasedAt) == 1)
    }

    /// Spans lead to whole seconds, and what was bought a few acts later renews within them, also after several.
    @Test(arguments: [[7.0], [3, 4], [1, 2, 4]]) func spansLeadToWholeSeconds(days: [Double]) throws {
        var life = StoreLife()
        for _ in 0..<5 { try life.buy("coins.100") }
        try life.buy("pro.weekly")
        #expect(Self.milliseconds(life.store.now) == 5)
        for count in days { life.days(count) }
        #expect(Self.milliseconds(life.store.steadyNow) == 7 * 86_400_000)
        #expect(life.owned().count == 7, "it was renewed")
        let renewed = try #require(life.owned().last)
        #expect(Self.milliseconds(renewed.fact.purchasedAt) == 7 * 86_400_000 + 5)
        // Time goes on from there, and not back.
        let now = life.store.now
        life.store.advance(to: StoreLife.start)
        #expect(life.store.now == now && Self.milliseconds(life.store.steadyNow) == 7 * 86_400_000)
    }

    /// Time that passes by itself takes the milliseconds back.
    @Test func aClockThatRunsIsNotAhead() throws {
        let wall = ManualClock(StoreLife.start)
        let simulator = AppStoreSimulator(
            StoreLife().store,
            authority: TestAuthority.shared,
            wallClock: wall
        )
        simulator.setPace(.runs(factor: 1))
        let coins = Act.Purchase(
            customer: "anna",
            app: DemoCatalogue.bundleID,
            product: DemoCatalogue.product("coins.100")
        )
        for _ in 0..<10 { _ = try simulator.perform(.buy(coins)) }
        #expect(Self.milliseconds(simulator.now) == 9)
        for _ in 0..<4 {
            wall.advance(by: .milliseconds(5))
            _ = simulator.now
        }
        #expect(Self.milliseconds(simulator.now) == 20)
    }

    /// Each step is where its story says, or after the one before.
    @Test func aStorysMomentsAreItsOwn() throws {
        let text = """
            {"name": "Anna changes her mind", "customers": [{"name": "anna"}], "steps": [
                {"act": "buy", "customer": "anna", "product": "pro.weekly"},
                {"act": "cancel", "customer": "anna", "product": "pro.weekly"},
                {"after": "P1D", "act": "resume", "customer": "anna", "product": "pro.weekly"},
                {"act": "cancel", "customer": "anna", "product": "pro.weekly"},
                {"after": "P1D", "act": "resume", "customer": "anna", "product": "pro.weekly"}
            ], "ends": "P2D", "expect": {}}
            """
        var teller = StoryTeller(in: StoreLife().store, app: DemoCatalogue.bundleID)
        #expect(try teller.tell(try Story(Array(text.utf8))) == [])
        let day: Int64 = 86_400_000
        #expect(teller.store.notices.map { Self.milliseconds($0.at) } == [0, 1, day, day + 1, day + 2])
        #expect(Self.milliseconds(teller.store.now) == 2 * day)
    }
}
