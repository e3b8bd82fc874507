import Encoding
import HTTP
import Jobs
import Pipeline
import PurchaseModel
import Simulator
import Storage
import Testing

/// What people who help customers have Apple asked: answered by jobs, beside the simulated store.
@Suite struct SupportAskingTests {
    private static let realm = Realm(environment: .production, isTestSigned: true)
    private static let token = AccountToken(high: 1, low: 0x8000_0000_0000_0001)

    /// Asks, and lets the jobs run until it has ended or a day is over.
    private static func ask(_ question: SupportQuestion, in house: WorkHouse) async throws -> SupportRequest {
        let asked = try await put(question, in: house)
        for pause in [0, 60, 600, 3_600, 86_400] {
            house.pass(.seconds(pause))
            try await house.work()
            let request = try await request(asked.id, in: house)
            if request.state != .waiting { return request }
        }
        return try await request(asked.id, in: house)
    }

    private static func put(_ question: SupportQuestion, in house: WorkHouse) async throws -> SupportRequest {
        let (queue, app, now) = (house.queue, house.app.id, house.clock.now)
        let support = SupportQueue(queue)
        return try await house.store.write { transaction throws(StoreFailure) in
            try support.take(question, for: app, by: "desk", at: now, in: transaction)
        }
    }

    private static func request(_ id: SupportRequestID, in house: WorkHouse) async throws -> SupportRequest {
        let app = house.app.id
        let found = try await house.store.read { reader throws(StoreFailure) in
            try reader.supportRequest(app: app, id: id)
        }
        return try #require(found)
    }

    private static func answer(_ request: SupportRequest) throws -> JSONObject {
        let bytes = try #require(request.answer)
        return try #require(try JSONDocument(bytes).root.object)
    }

    private static let terms = ExtensionTerms(days: 7, reason: .serviceIssue)

    @Test func anOrdersPurchasesAreVerifiedAndRecorded() async throws {
        try await WorkHouse().open { house in
            let sold = try house.buy("coins.100")
            let order = sold.orderID
            for wasKnown in [false, true] {
                let request = try await Self.ask(.lookUpOrder(order), in: house)
                #expect(request.state == .done && request.askedBy == "desk")
                let rows = try #require(try Self.answer(request)["transactions"]?.array)
                let row = try #require(rows.first { _ in true }?.object)
                #expect(row["transaction_id"]?.string == sold.id.description)
                #expect(row["was_known"]?.bool == wasKnown)
                #expect(try await house.recorded(sold.id) != nil)
            }
            let unknown = try await Self.ask(.lookUpOrder("MXXXXXXXXX"), in: house)
            #expect(unknown.state == .failed)
            #expect(try Self.answer(unknown)["code"]?.string == "unknown_order")
        }
    }

    /// What a purchase gives so far, and how much the shop was told.
    private static func given(_ sold: SoldTransaction, in house: WorkHouse) async throws -> (Fulfilment?, told: Int) {
        let app = house.app.id
        let recorded = try #require(try await house.recorded(sold.id))
        return try await house.store.read { reader throws(StoreFailure) in
            let fulfilment = try reader.fulfilments([recorded.chain]).first { $0.transaction == recorded.key }
            let everywhere = EventFilter(realms: Set(Realm.known))
            let page = try reader.events(app: app, after: .start, where: everywhere, limit: EventPage.limitMax)
            return (fulfilment, page.events.count)
        }
    }

    /// Nobody knows what was delivered of it: not of what Apple's history told of, and not of what is new here and signed for
    /// somebody who is known.
    @Test(arguments: [true, false]) func whatIsOnlyLookedUpIsGivenToNobody(isOfHistory: Bool) async throws {
        try await WorkHouse().open { house in
            house.inbox.open(false)
            let sold = try ["coins.100", "coins.1000"].map { product in
                var act = Act.Purchase(
                    customer: "anna",
                    app: DemoCatalogue.bundleID,
                    product: DemoCatalogue.product(product)
                )
                act.accountToken = AccountToken(ofCustomer: try #require(CustomerID("ann")))
                guard case .done(let ids) = try house.simulator.perform(.buy(act)) else {
                    throw WorkHouse.Unexpected.outcome
                }
                return try #require(house.simulator.read { store in ids.last.flatMap { store.transactions[$0] } })
            }
            let (presented, old) = (sold[0], sold[1])
            _ = try await house.submit(Array(presented.id.description.utf8))
            try await house.work()
            #expect(try await Self.given(presented, in: house).0?.customer?.text == "ann")
            if isOfHistory {
                let reading = CustomerReading(.history, of: try #require(try await house.recorded(presented.id)).key)
                try await house.queue.enqueue(reading)
                try await house.work()
            }
            #expect(try await (house.recorded(old.id) != nil) == isOfHistory)
            let told = try await Self.given(presented, in: house).told
            let request = try await Self.ask(.lookUpOrder(old.orderID), in: house)
            #expect(request.state == .done)
            let found = try await Self.given(old, in: house)
            let fulfilment = try #require(found.0)
            #expect(fulfilment.state == .waiting && fulfilment.isOfHistory && fulfilment.customer == nil)
            #expect(found.told == told)
            // Who presents it has it.
            _ = try await house.submit(Array(old.id.description.utf8))
            try await house.work()
            #expect(try await Self.given(old, in: house).0?.customer?.text == "ann")
        }
    }

    /// Orders are of production: where it is not accepted nothing of them is.
    @Test func anOrderOfAStoreThatIsNotAcceptedRecordsNothing() async throws {
        try await WorkHouse(environments: [.sandbox]).open { house in
            let sold = try house.buy("coins.100")
            let request = try await Self.ask(.lookUpOrder(sold.orderID), in: house)
            #expect(request.state == .done)
            #expect(try Self.answer(request)["transactions"]?.array?.count == 0)
            #expect(try await house.recorded(sold.id) == nil)
        }
    }

    @Test func aSubscriptionIsPutOffOnceHoweverOftenTheAnswerIsLost() async throws {
        try await WorkHouse().open { house in
            let sold = try house.buy("pro.monthly")
            // Nobody gets free days on top of a trial.
            house.pass(.seconds(32 * 86_400))
            let end = house.simulator.read { $0.lines[sold.id]?.expiresAt }
            house.script.set("/subscriptions/extend/", HTTPResponse(.serviceUnavailable))
            let asked = try await Self.put(.extend(sold.id, .production, Self.terms), in: house)
            try await house.work()
            #expect(try await Self.request(asked.id, in: house).state == .waiting)
            house.script.set("", nil)
            house.pass(.seconds(60))
            try await house.work()
            let request = try await Self.request(asked.id, in: house)
            #expect(request.state == .done)
            #expect(try Self.answer(request)["expires_date"]?.string != nil)
            let later = house.simulator.read { $0.lines[sold.id]?.expiresAt }
            #expect(later == end?.advanced(by: .seconds(7 * 86_400)))
            // Nobody extends what is none.
            let coins = try house.buy("coins.100")
            let refused = try await Self.ask(.extend(coins.id, .production, Self.terms), in: house)
            #expect(refused.state == .failed)
            #expect(try Self.answer(refused)["code"]?.string == "apple_refused")
        }
    }

    @Test func allWhoSubscribeArePutOffAndCounted() async throws {
        try await WorkHouse().open { house in
            _ = try house.buy("pro.monthly")
            house.pass(.seconds(32 * 86_400))
            let product = DemoCatalogue.product("pro.monthly")
            let asked = try await Self.ask(
                .extendAll(product, .production, Self.terms, storefronts: nil),
                in: house
            )
            #expect(asked.state == .done)
            let answer = try Self.answer(asked)
            #expect(answer["is_complete"]?.bool == true)
            #expect(answer["succeeded"]?.int64 == 1 && answer["failed"]?.int64 == 0)
            #expect(house.calls.values.count { $0.hasSuffix("/extend/mass") } == 1)
        }
    }

    @Test func aTokenIsSetOfOneAndOfAllThatACustomerHas() async throws {
        try await WorkHouse().open { house in
            let first = try house.buy("coins.100")
            let one = try await Self.ask(.setToken(Self.token, first.id, .production), in: house)
            #expect(one.state == .done)
            #expect(house.simulator.read { $0.transactions[first.id]?.fact.accountToken } == Self.token)
            let second = try house.buy("coins.100")
            _ = try await house.submit(try house.receipt())
            let other = AccountToken(high: 2, low: 0x8000_0000_0000_0002)
            let customer = try #require(CustomerID("ann"))
            let all = try await Self.ask(.setTokens(other, customer, .production), in: house)
            #expect(all.state == .done)
            #expect(try Self.answer(all)["done"]?.int64 == 2)
            for sold in [first, second] {
                #expect(house.simulator.read { $0.transactions[sold.id]?.fact.accountToken } == other)
            }
            let nobody = try await Self.ask(.setTokens(other, try #require(CustomerID("bob")), .production), in: house)
            #expect(try Self.answer(nobody)["done"]?.int64 == 0)
        }
    }

    /// Those that are too many to be named are counted all the same, also over several runs.
    @Test func whatAppleRefusesOfMuchIsCounted() async throws {
        try await WorkHouse().open { house in
            for _ in 0..<120 { _ = try house.buy("coins.100") }
            _ = try await house.submit(try house.receipt())
            let body = #"{"errorCode":4040010,"errorMessage":"no"}"#
            house.script.set("/appAccountToken", HTTPResponse(.notFound, body: Array(body.utf8)), after: 3)
            let customer = try #require(CustomerID("ann"))
            let asked = try await Self.ask(.setTokens(Self.token, customer, .production), in: house)
            #expect(asked.state == .done)
            let answer = try Self.answer(asked)
            #expect(answer["done"]?.int64 == 3)
            #expect(answer["refused_count"]?.int64 == 117)
            #expect(answer["refused"]?.array?.count == 100)
        }
    }

    /// Each row: what Apple answers; and how the request stands after a day, with the word for it.
    @Test(arguments: [
        (404, 4_040_005, "apple_refused"), (400, 4_000_008, "apple_refused"), (403, 4_030_004, "apple_refused"),
        (403, 4_030_005, "apple_refused"), (403, 4_030_007, "apple_refused"), (500, 5_000_000, "apple_did_not_answer"),
        (401, 0, "apple_did_not_answer"), (404, 4_040_006, "apple_did_not_answer"),
    ])
    func whatAppleRefusesFailsAndWhatItDoesNotAnswerIsAskedAgain(status: Int, code: Int, word: String) async throws {
        try await WorkHouse().open { house in
            let body = code == 0 ? "" : #"{"errorCode":\#(code),"errorMessage":"no"}"#
            house.script.set(
                "/subscriptions/extend/",
                HTTPResponse(HTTPStatus(rawValue: status), body: Array(body.utf8))
            )
            let id = try #require(TransactionID(number: 7))
            let request = try await Self.ask(.extend(id, .production, Self.terms), in: house)
            #expect(request.state == .failed)
            #expect(try Self.answer(request)["code"]?.string == word)
            let calls = house.calls.values.count
            #expect(word == "apple_refused" ? calls == 1 : calls > 1)
            #expect(try await house.deadLetters() == [])
        }
    }

    @Test func anAppWithoutAKeyIsToldSo() async throws {
        try await WorkHouse(hasKey: false).open { house in
            let request = try await Self.ask(.lookUpOrder("M1"), in: house)
            #expect(try Self.answer(request)["code"]?.string == "no_key")
            #expect(request.settledAt.map { $0 >= request.askedAt.advanced(by: .seconds(86_400)) } == true)
        }
    }

    /// What a person asks outlasts hours at a server that has no key.
    @Test func whatIsAskedWaitsForAServerWithAKey() async throws {
        try await WorkHouse().open { house in
            let order = try house.buy("coins.100").orderID
            let asked = try await Self.put(.lookUpOrder(order), in: house)
            for _ in 0..<20 {
                try await house.work(hasKey: false)
                house.pass(.seconds(3_600))
            }
            #expect(try await Self.request(asked.id, in: house).state == .waiting)
            try await house.work()
            #expect(try await Self.request(asked.id, in: house).state == .done)
        }
    }

    /// Apple has been told: whoever would ask again gives everybody the days twice.
    @Test(arguments: [2, 8]) func whatAppleHasInHandIsNotEndedByAServerWithoutAKey(days: Int) async throws {
        try await WorkHouse().open { house in
            _ = try house.buy("pro.monthly")
            house.pass(.seconds(32 * 86_400))
            let product = DemoCatalogue.product("pro.monthly")
            let asked = try await Self.put(
                .extendAll(product, .production, Self.terms, storefronts: nil),
                in: house
            )
            try await house.work()
            let sent = try await Self.request(asked.id, in: house)
            let identifier = try #require(try Self.answer(sent)["request_identifier"]?.string)
            for _ in 0..<days * 24 {
                house.pass(.seconds(3_600))
                try await house.work(hasKey: false)
            }
            let waiting = try await Self.request(asked.id, in: house)
            #expect(waiting.state == (days < 7 ? .waiting : .failed))
            #expect(try Self.answer(waiting)["code"]?.string == (days < 7 ? nil : "no_key"))
            #expect(try Self.answer(waiting)["request_identifier"]?.string == identifier)
            guard days < 7 else { return }
            house.pass(.seconds(600))
            try await house.work()
            let done = try await Self.request(asked.id, in: house)
            #expect(done.state == .done)
            #expect(try Self.answer(done)["succeeded"]?.int64 == 1)
            #expect(house.calls.values.count { $0.hasSuffix("/extend/mass") } == 1)
        }
    }

    /// What stands in rows is read as it was written.
    @Test func everyQuestionIsReadBack() throws {
        let id = try #require(TransactionID(number: 7))
        let product = try #require(ProductID("pro"))
        let customer = try #require(CustomerID("ann"))
        let questions: [SupportQuestion] = [
            .lookUpOrder("M1\"x"), .extend(id, .sandbox, Self.terms),
            .extendAll(product, .production, Self.terms, storefronts: ["USA"]),
            .extendAll(product, .production, Self.terms, storefronts: nil), .setToken(Self.token, id, .sandbox),
            .setTokens(Self.token, customer, .production),
        ]
        for question in questions { #expect(SupportQuestion(kind: question.kind, question.json) == question) }
        #expect(SupportQuestion(kind: "order.look_up", Array("{}".utf8)) == nil)
        #expect(SupportQuestion(kind: "nothing", questions[0].json) == nil)
    }
}
