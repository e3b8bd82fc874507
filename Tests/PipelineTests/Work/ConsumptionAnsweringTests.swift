import AppStore
import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Simulator
import Storage
import Testing

/// What Apple is told when a customer wants money back: through the whole house, beside the simulated store.
@Suite struct ConsumptionAnsweringTests {
    private static let path = "/transactions/consumption/"

    static func terms(_ change: (inout ConsumptionTerms) -> Void = { _ in }) throws -> AppTerms {
        var terms = AppTerms(sandbox: .everybody(until: Timestamp(milliseconds: .max)))
        let coins = DemoCatalogue.product("coins.100")
        terms.products = [
            coins: ProductTerms(
                product: coins,
                kind: .consumable,
                goods: [.amount(100, try #require(CurrencyID("coins")))]
            )
        ]
        terms.consumption = ConsumptionTerms(answers: true, consent: .byTerms)
        change(&terms.consumption)
        return terms
    }

    /// A customer buys, the shop delivers, she asks for a refund, and Apple asks us.
    private static func askRefund(_ house: WorkHouse, by customer: String = "anna") async throws -> SoldTransaction {
        let sold = try house.buy("coins.100", by: customer)
        await house.sender.deliverDue()
        _ = try await house.submit(try house.receipt(of: customer))
        _ = try house.simulator.perform(.askRefund(Act.RefundRequest(transaction: sold.id)))
        await house.sender.deliverDue()
        return sold
    }

    private static func request(_ house: WorkHouse) async throws -> ConsumptionRequest {
        let filter = ConsumptionFilter(realms: Set(Realm.known))
        let page = try await house.store.read { reader throws(StoreFailure) in
            try reader.consumptionRequests(app: house.app.id, before: nil, where: filter, limit: 10)
        }
        #expect(page.requests.count == 1)
        return try #require(page.requests.first)
    }

    private static func told(_ house: WorkHouse, _ sold: SoldTransaction) throws -> JSONObject {
        let bodies = house.simulator.read { $0.consumptions[sold.id, default: []].map(\.body) }
        #expect(bodies.count == 1)
        let body = try #require(bodies.first)
        return try #require(try JSONDocument(body).root.object)
    }

    private static func events(_ house: WorkHouse) async throws -> [String] {
        try await house.store.read { reader throws(StoreFailure) in
            try reader.events(app: house.app.id, after: .start, where: .everything, limit: 100).events.map(\.event.type)
        }
    }

    /// A page with status 200 in Apple's place is no yes of Apple's.
    @Test func aPageIsNotTakenForApplesThanks() async throws {
        try await WorkHouse(terms: try Self.terms()).open { house in
            let sold = try await Self.askRefund(house)
            house.pass(.seconds(3_600))
            var pages = Chaos.none
            pages.html = 1_000
            house.chaos.set(pages)
            try await house.work()
            #expect(house.simulator.read { $0.consumptions.isEmpty })
            #expect(try await Self.request(house).state == .sending)
            house.chaos.set(.none)
            house.pass(.seconds(600))
            try await house.work()
            _ = try Self.told(house, sold)
            #expect(try await Self.request(house).state == .answered)
        }
    }

    @Test(arguments: [("anna", 3_599, 3_600), ("tester", 149, 150)])
    func theLedgersFactsReachAppleInTime(customer: String, before: Int, after: Int) async throws {
        try await WorkHouse(terms: try Self.terms { $0.preference = .decline }).open { house in
            let sold = try await Self.askRefund(house, by: customer)
            #expect(try await Self.request(house).state == .open)
            house.pass(.seconds(before))
            try await house.work()
            #expect(house.simulator.read { $0.consumptions.isEmpty })
            house.pass(.seconds(after - before))
            try await house.work()
            let body = try Self.told(house, sold)
            #expect(body["customerConsented"]?.bool == true)
            #expect(body["sampleContentProvided"]?.bool == false)
            #expect(body["deliveryStatus"]?.string == "DELIVERED")
            #expect(body["consumptionPercentage"]?.int64 == 0)
            #expect(body["refundPreference"]?.string == "DECLINE")
            let request = try await Self.request(house)
            #expect(request.state == .answered && request.answer?.deliveryBecause == .inTheBooks)
            #expect(try await Self.events(house).suffix(2) == ["consumption.requested", "consumption.answered"])
            // Nothing more is said, whatever runs again.
            house.pass(.seconds(43_200))
            try await house.work()
            _ = try Self.told(house, sold)
            #expect(try await house.deadLetters() == [])
        }
    }

    @Test func withoutConsentNothingIsSentUntilItIsGiven() async throws {
        try await WorkHouse(terms: try Self.terms { $0.consent = .perCustomer }).open { house in
            let sold = try await Self.askRefund(house)
            house.pass(.seconds(7_200))
            try await house.work()
            #expect(house.simulator.read { $0.consumptions.isEmpty })
            try await Self.consent(house, true)
            house.pass(.seconds(600))
            try await house.work()
            #expect(try Self.told(house, sold)["customerConsented"]?.bool == true)
            #expect(try await Self.request(house).answer?.consentBecause == .consentRecorded)
        }
    }

    private static func consent(_ house: WorkHouse, _ isGiven: Bool) async throws {
        let key = ConsentKey(app: house.app.id, subject: .customer(try #require(CustomerID("ann"))))
        let now = house.clock.now
        _ = try await house.store.write { transaction throws(StoreFailure) in
            try ConsumptionDesk.note(isGiven, of: key, by: "shop", at: now, in: transaction)
        }
    }

    /// Each row: the policy, what is recorded of the customer, whether the app has a key; and why nothing was ever sent.
    @Test(
        arguments: [
            (ConsumptionTerms(answers: true), nil, true, "no_consent"),
            (ConsumptionTerms(answers: true, consent: .byTerms), false, true, "no_consent"),
            (ConsumptionTerms(answers: false, consent: .byTerms), true, true, "answers_off"),
            (ConsumptionTerms(answers: true, consent: .byTerms), true, false, "no_key"),
        ] as [(ConsumptionTerms, Bool?, Bool, String)]
    )
    func whatMayNotBeSentLapses(policy: ConsumptionTerms, consent: Bool?, hasKey: Bool, why: String) async throws {
        try await WorkHouse(hasKey: hasKey, terms: try Self.terms { $0 = policy }).open { house in
            _ = try await Self.askRefund(house)
            if let consent { try await Self.consent(house, consent) }
            for _ in 0..<80 {
                house.pass(.seconds(600))
                try await house.work()
            }
            let request = try await Self.request(house)
            #expect(request.state == .lapsed && request.ending == why)
            #expect(request.settledAt.map { $0 >= request.deadline } == true)
            #expect(house.calls.values.allSatisfy { !$0.contains(Self.path) })
            #expect(try await Self.events(house).last == "consumption.closed")
        }
    }

    @Test func aGuardiansWithdrawalStopsWhatTheTermsAllow() async throws {
        try await WorkHouse(terms: try Self.terms()).open { house in
            _ = try await Self.askRefund(house)
            _ = try house.simulator.perform(.rescindConsent(customer: "anna", app: DemoCatalogue.bundleID))
            await house.sender.deliverDue()
            for _ in 0..<80 {
                house.pass(.seconds(600))
                try await house.work()
            }
            #expect(try await Self.request(house).ending == "no_consent")
            #expect(try await Self.events(house).contains("notification.received"))
            #expect(house.simulator.read { $0.consumptions.isEmpty })
        }
    }

    @Test func aDecisionOfApplesEndsIt() async throws {
        try await WorkHouse(terms: try Self.terms()).open { house in
            let sold = try await Self.askRefund(house)
            _ = try house.simulator.perform(.decideRefund(sold.id, .declined))
            await house.sender.deliverDue()
            house.pass(.seconds(3_600))
            try await house.work()
            let request = try await Self.request(house)
            #expect(request.state == .overtaken && request.ending == "REFUND_DECLINED")
            #expect(house.simulator.read { $0.consumptions.isEmpty })
        }
    }

    /// Apple's errors of this endpoint, 5.4 of its table: each is retried, and the answer arrives after all, or ends it.
    @Test(arguments: [
        (400, 4_000_006, "refused"), (400, 4_000_035, "refused"), (400, 4_000_036, "refused"),
        (400, 4_000_041, "refused"), (400, 4_000_044, "refused"), (400, 4_000_048, "refused"),
        (400, 4_000_185, "refused"), (400, 4_000_209, "refused"), (400, 4_000_207, "refused"),
        (400, 4_000_208, "refused"), (400, 4_000_999, "refused"), (404, 4_040_010, "refused"),
        // Those of the first form.
        (400, 4_000_032, "refused"), (400, 4_000_033, "refused"), (400, 4_000_034, "refused"),
        (400, 4_000_037, "refused"), (400, 4_000_038, "refused"), (400, 4_000_039, "refused"),
        (400, 4_000_040, "refused"), (400, 4_000_042, "refused"), (400, 4_000_047, "refused"),
        // What says nothing of the answer.
        (401, 0, "again"), (400, 0, "again"), (429, 4_290_000, "again"), (500, 5_000_000, "again"),
        (500, 5_000_001, "again"), (502, 0, "again"), (503, 0, "again"),
    ])
    func everyErrorHasItsOutcome(status: Int, code: Int, outcome: String) async throws {
        try await WorkHouse(terms: try Self.terms()).open { house in
            let sold = try await Self.askRefund(house)
            let body = code == 0 ? "" : #"{"errorCode":\#(code),"errorMessage":"no"}"#
            var response = HTTPResponse(HTTPStatus(rawValue: status), body: Array(body.utf8))
            if status == 429 {
                let until = house.clock.now.advanced(by: .seconds(4_000)).milliseconds
                response.fields["Retry-After"] = "\(until)"
            }
            house.script.set(Self.path, response)
            house.pass(.seconds(3_600))
            try await house.work()
            let request = try await Self.request(house)
            #expect(request.state == (outcome == "refused" ? .refused : .sending))
            if outcome == "refused" { #expect(request.ending?.hasPrefix("\(code)") == true) }
            house.script.set(Self.path, nil)
            for _ in 0..<6 {
                house.pass(.seconds(900))
                try await house.work()
            }
            let isTold = house.simulator.read { $0.consumptions[sold.id]?.count } == 1
            #expect(isTold == (outcome == "again"))
            let last = try await Self.request(house)
            #expect(last.state == (outcome == "again" ? .answered : .refused))
            #expect(try await house.deadLetters() == [])
        }
    }

    @Test func whatNeverGetsThroughLapses() async throws {
        try await WorkHouse(terms: try Self.terms()).open { house in
            _ = try await Self.askRefund(house)
            house.script.set(Self.path, HTTPResponse(.serviceUnavailable))
            for _ in 0..<80 {
                house.pass(.seconds(600))
                try await house.work()
            }
            let request = try await Self.request(house)
            #expect(request.state == .lapsed && request.ending == "apple_did_not_answer")
            #expect(house.calls.values.count { $0.contains(Self.path) } < 80)
        }
    }

    /// A process that ends between Apple's answer and the note of it says the same again, and the shop hears it once.
    @Test func whatWasOnItsWayIsSaidAgainAsItWas() async throws {
        try await WorkHouse(terms: try Self.terms()).open { house in
            let sold = try await Self.askRefund(house)
            house.script.set(Self.path, HTTPResponse(.serviceUnavailable))
            house.pass(.seconds(3_600))
            try await house.work()
            let first = try await Self.request(house)
            #expect(first.state == .sending)
            // What is known changes meanwhile.
            let wallet = WalletKey(
                app: house.app.id,
                realm: first.key.realm,
                customer: try #require(CustomerID("ann")),
                currency: try #require(CurrencyID("coins"))
            )
            let (app, now) = (house.app, house.clock.now)
            _ = try await house.store.write { transaction throws(StoreFailure) in
                try LedgerRequests.adjust(wallet, by: -100, cause: .use, for: app, at: now, in: transaction)
            }
            house.script.set(Self.path, nil)
            house.pass(.seconds(900))
            try await house.work()
            #expect(try Self.told(house, sold)["consumptionPercentage"]?.int64 == 0)
            #expect(try await Self.request(house).answer == first.answer)
            #expect(try await Self.events(house).count { $0 == "consumption.answered" } == 1)
        }
    }

    @Test func theSameQuestionIsTakenOnce() async throws {
        try await WorkHouse(terms: try Self.terms()).open { house in
            _ = try await Self.askRefund(house)
            let kept = try await house.store.read { reader throws(StoreFailure) in
                try reader.notifications(
                    app: house.app.id,
                    before: nil,
                    where: NotificationFilter(type: "CONSUMPTION_REQUEST", realms: Set(Realm.known)),
                    limit: 1
                ).notifications
            }
            let bytes = try #require(kept.first).payload
            for _ in 0..<3 { _ = try await house.intake.take(bytes, for: house.app, arrival: .fetched) }
            _ = try await Self.request(house)
            #expect(try await Self.events(house).count { $0 == "consumption.requested" } == 1)
        }
    }
}
