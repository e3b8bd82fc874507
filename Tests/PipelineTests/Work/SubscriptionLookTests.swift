import Encoding
import HTTP
import Jobs
import Pipeline
import PurchaseModel
import Simulator
import Storage
import Testing

/// Subscriptions are followed though nobody tells of them: no notification arrives in any of these lives.
@Suite struct SubscriptionLookTests {
    @Test func everyRenewalIsFoundByLooking() async throws {
        try await WorkHouse().open { house in
            house.inbox.open(false)
            let sold = try await house.subscribe()
            try await house.live(days: 365)
            // All periods, each once, and no more questions than there is reason to.
            let bought = house.bought()
            #expect(bought.count >= 12)
            #expect(try await house.recordedIDs() == Set(bought))
            let standing = try #require(try await house.subscription(sold.id))
            #expect(standing.state == .active)
            #expect(standing.current == bought.last)
            #expect(house.calls.values.count <= bought.count * 6, "\(house.calls.values.count) calls")
        }
    }

    /// Apple lists with her periods whatever else she bought since: that may have been delivered by others.
    @Test func whatElseWasBoughtMeanwhileWaitsInSilence() async throws {
        try await WorkHouse().open { house in
            house.inbox.open(false)
            let sold = try await house.subscribe()
            let coins = try house.buy("coins.100")
            try await house.live(days: 40)
            let periods = try await house.fulfilments(of: sold.id)
            #expect(periods.count > 1 && periods.allSatisfy { $0.state == .granted })
            #expect(try await house.fulfilments(of: coins.id).map(\.reason) == [.fromHistory])
            let told = try await Self.told(house)
            #expect(!told.isEmpty && !told.contains("purchase.waiting"))
        }
    }

    /// Nor is it news that she subscribed to something else, in another group.
    @Test func whatElseSheSubscribedToWaitsInSilence() async throws {
        try await WorkHouse().open { house in
            house.inbox.open(false)
            _ = try await house.subscribe()
            let other = try house.buy("premium.monthly")
            for _ in 0..<30 where try await house.fulfilments(of: other.id).isEmpty { try await house.live(days: 1) }
            #expect(try await house.fulfilments(of: other.id).map(\.reason) == [.fromHistory])
            let told = try await Self.told(house)
            #expect(told.filter { $0 == "subscription.started" }.count == 1)
            #expect(!told.contains("purchase.waiting"))
        }
    }

    /// Nobody looked for months: she has had it all the while, and nobody is told that she had not.
    @Test func whatIsHeardLateWasNeverOver() async throws {
        try await WorkHouse().open { house in
            house.inbox.open(false)
            let sold = try await house.subscribe()
            house.pass(.seconds(80 * 86_400))
            try await house.live(days: 1)
            #expect(try await house.recordedIDs() == Set(house.bought()))
            #expect(try await house.subscription(sold.id)?.state == .active)
            let told = try await Self.told(house).filter { $0.hasPrefix("subscription.") }
            #expect(told == ["subscription.started"] + Array(repeating: "subscription.renewed", count: 3), "\(told)")
        }
    }

    /// Nor while Apple has said that it goes on, and does not say what was in between.
    @Test func whatIsHeardInPartsWasNeverOver() async throws {
        try await WorkHouse().open { house in
            house.inbox.open(false)
            let sold = try await house.subscribe()
            house.pass(.seconds(80 * 86_400))
            house.script.set("/history/", HTTPResponse(.internalServerError))
            try await house.live(days: 1, everyHours: 1)
            #expect(try await Self.told(house).filter { $0.hasPrefix("subscription.") } == ["subscription.started"])
            house.script.set("", nil)
            try await house.live(days: 1, everyHours: 1)
            #expect(try await house.recordedIDs() == Set(house.bought()))
            #expect(try await house.subscription(sold.id)?.state == .active)
            #expect(try await !Self.told(house).contains("subscription.expired"))
        }
    }

    /// Nor where Apple tries to charge since some days.
    @Test func whatAppleTriesToChargeForIsNotOver() async throws {
        try await WorkHouse().open { house in
            house.inbox.open(false)
            let sold = try await house.subscribe()
            try await house.live(days: 20)
            _ = try house.simulator.perform(.setPayment(customer: "anna", works: false))
            house.pass(.seconds(24 * 86_400))
            try await house.live(days: 1)
            let told = try await Self.told(house)
            #expect(!told.contains("subscription.expired"), "\(told)")
            let state = try await house.subscription(sold.id)?.state
            #expect(state == .grace || state == .billingRetry)
            #expect(
                told.last == (state == .grace ? "subscription.grace_started" : "subscription.billing_retry_started")
            )
        }
    }

    private static func told(_ house: WorkHouse) async throws -> [String] {
        let app = house.app.id
        let page = try await house.store.read { reader throws(StoreFailure) in
            try reader.events(
                app: app,
                after: .start,
                where: EventFilter(realms: Set(Realm.known)),
                limit: EventPage.limitMax
            )
        }
        return page.events.map(\.event.type)
    }

    @Test func anEndIsFoundByLooking() async throws {
        try await WorkHouse().open { house in
            house.inbox.open(false)
            let sold = try await house.subscribe()
            try await house.live(days: 40)
            let subscription = Act.Subscription(
                customer: "anna",
                app: DemoCatalogue.bundleID,
                product: DemoCatalogue.product("pro.monthly")
            )
            _ = try house.simulator.perform(.setAutoRenew(subscription, isOn: false))
            try await house.live(days: 60)
            #expect(try await house.subscription(sold.id)?.state == .expired)
            #expect(try await house.subscription(sold.id)?.nextLook == nil)
            // Nobody asks about what is over.
            let count = house.calls.values.count
            try await house.live(days: 200)
            #expect(house.calls.values.count == count)
        }
    }

    /// Of a subscription that only an old receipt proves, the receipt is what to ask with.
    @Test func withoutAKeyItsReceiptIsAskedAbout() async throws {
        try await WorkHouse(hasKey: false).open { house in
            house.inbox.open(false)
            let sold = try await house.subscribe()
            try await house.live(days: 100)
            #expect(try await house.recordedIDs() == Set(house.bought()))
            #expect(try await house.subscription(sold.id)?.state == .active)
        }
    }

    /// The notification of a period has no receipt in it; the one from before is as good.
    @Test func withoutAKeyANotificationHidesNoReceipt() async throws {
        try await WorkHouse(hasKey: false).open { house in
            house.inbox.open(false)
            let sold = try await house.subscribe()
            house.inbox.open(true)
            let told = house.bought().count
            for _ in 0..<40 where house.bought().count == told {
                house.pass(.seconds(86_400))
                await house.sender.deliverDue()
            }
            #expect(try await house.recordedIDs() == Set(house.bought()), "by the notification alone")
            house.inbox.open(false)
            try await house.live(days: 70)
            #expect(house.bought().count > told + 2)
            #expect(try await house.recordedIDs() == Set(house.bought()))
            #expect(try await house.subscription(sold.id)?.state == .active)
        }
    }

    /// Its job waits for a time that a wrong clock told: what is due is looked at all the same.
    @Test func aJobThatWaitsTooLongIsBroughtForward() async throws {
        try await WorkHouse().open { house in
            house.inbox.open(false)
            let sold = try await house.subscribe()
            let look = SubscriptionLook(house.chain(sold.id))
            let due = house.clock.now.advanced(by: .seconds(400 * 86_400))
            #expect(try await house.queue.enqueue(look, due: due))
            try await house.live(days: 60)
            #expect(try await house.recordedIDs() == Set(house.bought()))
            #expect(try await house.subscription(sold.id)?.state == .active)
        }
    }

    @Test func whileAppleIsAwayNothingIsForgotten() async throws {
        try await WorkHouse().open { house in
            house.inbox.open(false)
            let sold = try await house.subscribe()
            try await house.live(days: 20)
            var chaos = Chaos.none
            chaos.serverError = 1_000
            house.chaos.set(chaos)
            let before = house.calls.values.count
            try await house.live(days: 40, everyHours: 1)
            // About once an hour at most, for forty days.
            #expect(house.calls.values.count - before <= 40 * 26, "\(house.calls.values.count - before) calls")
            house.chaos.set(.none)
            try await house.live(days: 2)
            #expect(try await house.recordedIDs() == Set(house.bought()))
            #expect(try await house.subscription(sold.id)?.state == .active)
            #expect(try await house.deadLetters() == [])
        }
    }

    /// Three days of each trouble, looked at every minute, around the end of a period: nothing is lost, nobody asks without end.
    @Test(arguments: ProofDecisionTests.Trouble.allCases)
    func noTroubleMakesTheLookALoop(trouble: ProofDecisionTests.Trouble) async throws {
        try await WorkHouse().open { house in
            house.inbox.open(false)
            let sold = try await house.subscribe()
            // A week for a trial, and a month.
            try await house.live(days: 36)
            let before = house.calls.values.count
            house.chaos.set(trouble.always)
            for _ in 0..<3 * 1_440 {
                house.pass(.seconds(60))
                try await house.work()
            }
            // A minute, then twice as long, then every three quarters of an hour and more.
            let asked = house.calls.values.count - before
            #expect((1...3 * 34).contains(asked), "\(asked) calls")
            house.chaos.set(.none)
            try await house.live(days: 1)
            #expect(try await house.recordedIDs() == Set(house.bought()))
            #expect(try await house.subscription(sold.id)?.state == .active)
            #expect(try await house.deadLetters() == [])
        }
    }

    /// Apple sends the newer period alone. Each row: whether there is a key, or only the shared secret.
    @Test(arguments: [true, false]) func whatAnUpgradeTookThePlaceOfIsAskedAboutAtOnce(hasKey: Bool) async throws {
        let right = try #require(EntitlementID("pro"))
        let products = ["pro.monthly", "premium.monthly"].map { name in
            ProductTerms(product: DemoCatalogue.product(name), kind: .autoRenewable, goods: [.entitlement(right)])
        }
        let terms = AppTerms(products: Dictionary(uniqueKeysWithValues: products.map { ($0.product, $0) }))
        try await WorkHouse(hasKey: hasKey, terms: terms).open { house in
            let sold = try await house.subscribe()
            try await house.live(days: 10)
            let calls = house.calls.values.count
            let old = try await house.upgrade()
            let new = try #require(house.bought().last)
            #expect(try await house.recorded(new)?.transaction.product.text == "com.example.demo.premium.monthly")
            #expect(try await house.recorded(old)?.transaction.isUpgraded == false)
            try await house.work()
            let known = try #require(try await house.recorded(old))
            #expect(known.transaction.isUpgraded && known.transaction.revocation == nil)
            let given = try #require(try await house.fulfilments(of: sold.id).first { $0.transaction.id == old })
            #expect(given.state == .granted)
            #expect(given.goods == [.entitlement(right, until: known.transaction.purchasedAt)])
            #expect(try await Self.told(house).contains("delivery.changed"))
            // The statuses and the period, or the receipt; and nothing more until the look that comes anyway.
            #expect(house.calls.values.count == calls + (hasKey ? 2 : 1), "\(house.calls.values)")
            try await house.live(days: 5)
            #expect(house.calls.values.count == calls + (hasKey ? 2 : 1), "\(house.calls.values)")
        }
    }

    /// StoreKit 2 told of the old plan, and a receipt, which knows no upgrades, of both.
    @Test func aReceiptAfterAnUpgradeDoesNotHideIt() async throws {
        try await WorkHouse().open { house in
            _ = try house.buy("pro.monthly")
            await house.sender.deliverDue()
            try await house.live(days: 10)
            house.inbox.open(false)
            let old = try await house.upgrade()
            house.pass(.seconds(3_600))
            guard case .recorded = try await house.submit(house.receipt()) else {
                Issue.record("The receipt was not taken in.")
                return
            }
            #expect(try await house.recorded(old)?.transaction.ownership == .purchased)
            #expect(try await house.recorded(old)?.transaction.isUpgraded == false)
            try await house.work()
            #expect(try await house.recorded(old)?.transaction.isUpgraded == true)
        }
    }

    /// Two plans of one product, of which nobody has shown any: how long what waits lasts stands in no row of what was given.
    @Test func anUpgradeThatNobodyHasShownIsAskedAboutToo() async throws {
        try await WorkHouse().open { house in
            let sold = try house.buy("pro.monthly")
            await house.sender.deliverDue()
            let old = try #require(try await house.recorded(sold.id))
            #expect(try await house.fulfilments(of: sold.id).map(\.state) == [.waiting])
            house.pass(.seconds(3 * 86_400))
            var newer = old.transaction
            newer.id = try #require(TransactionID(number: sold.id.number + 1))
            newer.originalID = sold.id
            newer.purchasedAt = house.clock.now
            newer.expiresAt = house.clock.now.advanced(by: .seconds(30 * 86_400))
            newer.signedAt = house.clock.now
            let (realm, now) = (old.key.realm, house.clock.now)
            try await house.recorder.recordHistory(newer, of: house.app, in: realm, at: now)
            // Else Apple's statuses would tell of the older one once more.
            house.script.set("/subscriptions/", HTTPResponse(.ok, body: Array(#"{"data":[]}"#.utf8)))
            try await house.work()
            #expect(house.calls.values.contains { $0.hasSuffix("/transactions/\(sold.id)") }, "\(house.calls.values)")
        }
    }

    /// While Apple is away the question waits, and is asked when it is back.
    @Test func theQuestionAboutAnUpgradeOutlivesAppleBeingAway() async throws {
        try await WorkHouse().open { house in
            _ = try await house.subscribe()
            try await house.live(days: 10)
            let old = try await house.upgrade()
            house.script.set("/transactions/", HTTPResponse(.internalServerError))
            try await house.live(days: 1)
            #expect(try await house.recorded(old)?.transaction.isUpgraded == false)
            house.script.set("", nil)
            try await house.live(days: 1)
            #expect(try await house.recorded(old)?.transaction.isUpgraded == true)
            #expect(try await house.deadLetters() == [])
        }
    }

    /// Where Apple cannot be asked at all, the end of what was paid for is an end, though a patient one.
    @Test func withoutAnyAccountTheClockDecides() async throws {
        try await WorkHouse(hasAccount: false).open { house in
            house.inbox.open(false)
            let sold = try await house.subscribe()
            try await house.live(days: 100)
            #expect(try await house.subscription(sold.id)?.state == .expired)
            #expect(house.calls.values.isEmpty)
        }
    }
}

extension WorkHouse {
    /// Somebody subscribes, and her app sends the receipt.
    fileprivate func subscribe() async throws -> SoldTransaction {
        let sold = try buy("pro.monthly")
        guard case .recorded = try await submit(receipt()) else { throw Unexpected.outcome }
        return sold
    }

    /// She changes to a plan of a higher level, which Apple tells of.
    ///
    /// - Returns: the period that she had.
    fileprivate func upgrade() async throws -> TransactionID {
        let (monthly, better) = (DemoCatalogue.product("pro.monthly"), DemoCatalogue.product("premium.monthly"))
        simulator.change { store in
            guard var app = store.apps[DemoCatalogue.bundleID] else { return }
            let group = app.products[monthly]?.group
            app.products[better]?.group = group
            store.set(app)
        }
        let plan = Act.Subscription(customer: "anna", app: DemoCatalogue.bundleID, product: monthly)
        let old = try #require(bought().last)
        _ = try simulator.perform(.changePlan(plan, to: better))
        await sender.deliverDue()
        return old
    }

    fileprivate func live(days: Int, everyHours hours: Int = 6) async throws {
        for _ in 0..<(days * 24 / hours) {
            pass(.seconds(hours * 3_600))
            try await work()
        }
    }

    fileprivate func bought() -> [TransactionID] {
        let owner = SimulatedStore.Owner(customer: "anna", app: DemoCatalogue.bundleID)
        return simulator.read { $0.transactions(of: owner).map(\.id) }
    }

    fileprivate func recordedIDs() async throws -> Set<TransactionID> {
        let (app, ids) = (app.id, bought())
        return try await store.read { reader throws(StoreFailure) in
            var found: Set<TransactionID> = []
            for id in ids where try !reader.transactions(app: app, id: id).isEmpty { found.insert(id) }
            return found
        }
    }

    fileprivate func chain(_ original: TransactionID) -> ChainKey {
        ChainKey(app: app.id, realm: Realm(environment: .production, isTestSigned: true), original: original)
    }

    fileprivate func subscription(_ original: TransactionID) async throws -> RecordedSubscription? {
        let chain = chain(original)
        return try await store.read { reader throws(StoreFailure) in try reader.subscriptions([chain]).first }
    }

    fileprivate func fulfilments(of original: TransactionID) async throws -> [Fulfilment] {
        let chain = chain(original)
        return try await store.read { reader throws(StoreFailure) in try reader.fulfilments([chain]) }
    }
}
