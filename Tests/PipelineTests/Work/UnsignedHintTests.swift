import Encoding
import Pipeline
import PurchaseModel
import Simulator
import Storage
import Testing

/// What version 1 of Apple's notifications says of a subscription stands in no receipt: Apple is asked.
@Suite struct UnsignedHintTests {
    private static func house(hasKey: Bool = true) throws -> WorkHouse {
        let house = try WorkHouse(hasKey: hasKey)
        house.simulator.change { store in
            guard var app = store.apps[DemoCatalogue.bundleID] else { return }
            app.productionNotifications?.version = .one
            store.set(app)
        }
        return house
    }

    private static func standing(_ house: WorkHouse, _ original: TransactionID) async throws -> RecordedSubscription {
        let realm = Realm(environment: .production, isTestSigned: true)
        let chain = ChainKey(app: house.app.id, realm: realm, original: original)
        return try #require(
            try await house.store.read { reader throws(StoreFailure) in try reader.subscriptions([chain]).first }
        )
    }

    /// As Apple sends it, each another.
    private static func notice(
        _ original: String,
        number: Int,
        _ receipt: [UInt8]?,
        type: String = "DID_CHANGE_RENEWAL_STATUS"
    ) -> [UInt8] {
        JSONWriter.object { json in
            json.member("notification_type", type)
            json.member("password", DemoCatalogue.sharedSecret)
            json.member("environment", "PROD")
            json.member("bid", DemoCatalogue.bundleID.text)
            json.member("bvrs", String(number))
            json.member("original_transaction_id", original)
            guard let receipt else { return }
            json.object("unified_receipt") { unified in
                let text = Base64.encode(receipt, .standard, isPadded: true)
                unified.member("latest_receipt", String(decoding: text, as: UTF8.self))
            }
        }
    }

    private static func subscription(_ product: String = "pro.monthly") -> Act.Subscription {
        Act.Subscription(
            customer: "anna",
            app: DemoCatalogue.bundleID,
            product: DemoCatalogue.product(product)
        )
    }

    @Test(arguments: [true, false]) func aRenewalThatWasTurnedOffIsHeardOfInMinutes(hasKey: Bool) async throws {
        try await Self.house(hasKey: hasKey).open { house in
            let sold = try house.buy("pro.monthly")
            _ = try await house.submit(try house.receipt())
            await house.sender.deliverDue()
            try await house.work()
            house.pass(.seconds(3_600))
            try await house.work()
            let calls = house.calls.values.count
            _ = try house.simulator.perform(.setAutoRenew(Self.subscription(), isOn: false))
            await house.sender.deliverDue()
            try await house.work()
            // More may follow, and Apple's own answer, too.
            #expect(house.calls.values.count == calls)
            house.pass(LookQueue.delay)
            try await house.work()
            #expect(try await Self.standing(house, sold.id).renewal?.willAutoRenew == false)
            #expect(house.calls.values.count == calls + 1)
        }
    }

    @Test func aPlanForTheNextRenewalIsHeardOfInMinutes() async throws {
        try await Self.house().open { house in
            let sold = try house.buy("pro.yearly")
            _ = try await house.submit(try house.receipt())
            try await house.work()
            let monthly = DemoCatalogue.product("pro.monthly")
            _ = try house.simulator.perform(.changePlan(Self.subscription("pro.yearly"), to: monthly))
            await house.sender.deliverDue()
            house.pass(LookQueue.delay)
            try await house.work()
            #expect(try await Self.standing(house, sold.id).renewal?.nextProduct == monthly)
        }
    }

    /// The secret stands in many an app: whoever has it sets off one question in two minutes about each subscription that is
    /// known, and none about others.
    @Test func whoRepeatsItHasAppleAskedOnce() async throws {
        try await Self.house().open { house in
            let sold = try house.buy("pro.monthly")
            _ = try await house.submit(try house.receipt())
            try await house.work()
            house.pass(.seconds(3_600))
            try await house.work()
            let (calls, receipt) = (house.calls.values.count, try house.receipt())
            for round in 1...3 {
                for number in 0..<40 {
                    for original in [sold.id.description, "99000000000\(number)"] {
                        let bytes = Self.notice(original, number: round * 100 + number, receipt)
                        guard case .kept = try await house.intake.take(bytes, for: house.app) else {
                            Issue.record("it was not kept")
                            return
                        }
                    }
                }
                try await house.work()
                house.pass(LookQueue.delay)
                try await house.work()
                #expect(house.calls.values.count == calls + round)
            }
        }
    }

    /// How many customers Apple is still to be asked about.
    private static func readings(_ house: WorkHouse) async throws -> Int {
        let figures = try await house.store.read { reader throws(StoreFailure) in try reader.jobFigures() }
        return figures.first { $0.kind == CustomerReading.kind }?.counts[.pending] ?? 0
    }

    /// Numbers that are made up have Apple asked a few times an hour, whoever is known at once, and nobody twice.
    @Test(arguments: ["REFUND", "CANCEL"]) func refundsOfNobodyAreAskedAboutSeldom(type: String) async throws {
        try await Self.house().open { house in
            house.inbox.open(false)
            let known = try house.buy("coins.100").id.description
            let receipt = try house.receipt()
            _ = try await house.submit(receipt)
            var number = 0
            func hear(_ original: String, _ receipt: [UInt8]? = nil) async throws {
                number += 1
                let bytes = Self.notice(original, number: number, receipt, type: type)
                guard case .kept = try await house.intake.take(bytes, for: house.app) else {
                    throw WorkHouse.Unexpected.outcome
                }
            }
            let few = NotificationIntake.strangersPerHour
            for hour in 1...2 {
                for count in 0..<few + 40 { try await hear("99\(hour)0000000\(count)") }
                #expect(try await Self.readings(house) == few * hour)
                house.pass(.seconds(3_600))
            }
            for count in 0..<few { try await hear("9930000000\(count)") }
            // What is recorded is asked about all the same, and so is whose receipt comes with it, once.
            for _ in 0..<3 {
                try await hear(known)
                try await hear("994000000000", receipt)
            }
            #expect(try await Self.readings(house) == few * 3 + 1)
        }
    }

    /// A write may be made more than once until it holds.
    @Test func aQuestionAboutNobodyCountsOnceHoweverOftenItIsWritten() async throws {
        try await Self.house().open { house in
            let (few, store) = (NotificationIntake.strangersPerHour, WatchedStore(house.store))
            store.repeatWrites(2)
            let intake = NotificationIntake(
                verifier: try PipelineHouse.verifier(),
                recorder: house.recorder,
                store: store,
                refusals: RefusalLedger(),
                secrets: [house.app.id: Array(DemoCatalogue.sharedSecret.utf8)],
                clock: house.clock,
                queue: ConsumptionQueue(house.queue),
                refunds: RefundQueue(house.queue),
                looks: LookQueue(house.queue)
            ) { _ in }
            for count in 0..<few + 10 {
                let bytes = Self.notice("9910000000\(count)", number: count, nil, type: "REFUND")
                guard case .kept = try await intake.take(bytes, for: house.app) else {
                    throw WorkHouse.Unexpected.outcome
                }
            }
            #expect(try await Self.readings(house) == few)
        }
    }

    /// A charge stands in the receipt that comes with it.
    @Test func aRenewalThatTheReceiptShowsAsksNothingMore() async throws {
        try await Self.house().open { house in
            _ = try house.buy("pro.monthly")
            _ = try await house.submit(try house.receipt())
            await house.sender.deliverDue()
            #expect(try await !house.waits(for: SubscriptionLook.kind))
        }
    }
}
