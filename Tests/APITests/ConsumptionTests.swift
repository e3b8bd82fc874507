import Encoding
import HTTP
import PurchaseModel
import Simulator
import TestSupport
import Testing

/// What the shop sees of Apple's questions about refunds, and what it may say; and what its support has Apple asked.
@Suite struct ConsumptionTests {
    private static let path = "/v1/consumption-requests"
    private static let uuid = "5f1f0a64-3d0b-4d4e-9a4e-2d1bb6b2f3a1"
    private static let id = "\(uuid).sandbox.test"

    private static func terms(_ consent: ConsentRule = .perCustomer, answers: Bool = true) -> AppTerms {
        AppTerms(consumption: ConsumptionTerms(answers: answers, consent: consent))
    }

    /// A customer has coins, and Apple asks about them.
    private static func ask(_ house: TestHouse, _ number: Int64 = 7_001) async throws {
        let answer = await house.submit(try Sample.jws(number))
        #expect(answer.status == .ok)
        var notice = Notice(uuid: uuid, type: "CONSUMPTION_REQUEST", signedAt: TestHouse.now)
        notice.transaction = try Sample.transaction(number)
        let signer = PurchaseSigner(TestAuthority.shared, app: try Sample.app("com.example.demo"))
        let sent = await house.send(try signer.notificationBody(notice), to: "/v1/apple/notifications/demo")
        #expect(sent.status == .ok)
    }

    @Test func aRequestShowsWhatWouldBeSentAndWhy() async throws {
        try await TestHouse(terms: Self.terms()).open { house in
            try await Self.ask(house)
            let one = try await house.get("\(Self.path)/\(Self.id)").json()
            #expect(one["state"]?.string == "open")
            #expect(one["waits_for"]?.string == "needs_consent")
            #expect(one["transaction_id"]?.string == "7001")
            let answer = try #require(one["would_send"]?.object)
            #expect(answer["delivery_status"]?.string == "undelivered_other")
            #expect(answer["because"]?.object?["delivery_status"]?.string != nil)
            #expect(answer["because"]?.object?["customer_consented"] == nil)
            let audit = try #require(one["audit"]?.array?.first { _ in true }?.object)
            #expect(audit["actor"]?.string == "apple" && audit["act"]?.string == "requested")
            // The listing has it too, and nobody else's key.
            for (query, count) in [(nil, 1), ("state=open", 1), ("state=declined", 0), ("transaction_id=7001", 1)] {
                let listed = try await house.get(Self.path, query: query).json()
                #expect(listed["consumption_requests"]?.array?.count == count)
            }
            #expect(await house.get("\(Self.path)/\(Self.id)", key: TestHouse.otherKey).status == .notFound)
            #expect(await house.get(Self.path, query: "state=lost").status == .badRequest)
            #expect(await house.get("\(Self.path)/nothing").status == .notFound)
        }
    }

    /// Nobody has the coins: another system may have delivered them.
    @Test func whetherWhatNobodyHasWasDeliveredIsForAPersonToSay() async throws {
        try await TestHouse(terms: Self.terms(.byTerms)).open { house in
            var notice = Notice(uuid: Self.uuid, type: "CONSUMPTION_REQUEST", signedAt: TestHouse.now)
            notice.transaction = try Sample.transaction(7_001)
            let signer = PurchaseSigner(TestAuthority.shared, app: try Sample.app("com.example.demo"))
            let sent = await house.send(try signer.notificationBody(notice), to: "/v1/apple/notifications/demo")
            #expect(sent.status == .ok)
            let path = "\(Self.path)/\(Self.id)"
            let one = try await house.get(path).json()
            #expect(one["waits_for"]?.string == "delivery_unknown" && one["would_send"] == nil)
            #expect(try await house.change("\(path)/answer").json()["code"]?.string == "delivery_unknown")
            let said = await house.change("\(path)/answer", #"{"delivery_status": "delivered"}"#)
            #expect(said.status == .ok)
            let after = try await house.get(path).json()
            #expect(after["waits_for"] == nil)
            #expect(after["would_send"]?.object?["because"]?.object?["delivery_status"]?.string == "by_hand")
        }
    }

    @Test func aPersonAnswersOnlyWithConsentAndOnlyOnce() async throws {
        try await TestHouse(terms: Self.terms(answers: false)).open { house in
            try await Self.ask(house)
            let answer = "\(Self.path)/\(Self.id)/answer"
            #expect(try await house.change(answer).json()["code"]?.string == "no_consent")
            let customer = try #require(
                try await house.get("\(Self.path)/\(Self.id)").json()["customer_id"]?.string
            )
            let consent = "/v1/customers/\(customer)/consent"
            #expect(try await house.get(consent).json()["is_given"]?.bool == false)
            let given = try await house.change(consent, #"{"is_given": true}"#).json()
            #expect(given["is_given"]?.bool == true && given["is_recorded"]?.bool == true)
            // Of what was not used nothing can be given back in part.
            let share = await house.change(answer, #"{"refund_preference": "grant_prorated"}"#)
            #expect(try share.json()["code"]?.string == "not_divisible")
            #expect(await house.change(answer, #"{"refund_preference": "maybe"}"#).status == .badRequest)
            #expect(await house.change(answer, #"{"delivery_status": "perhaps"}"#).status == .badRequest)
            let before = house.jobs.values
            let body = #"{"refund_preference": "decline", "delivery_status": "undelivered_wrong_item"}"#
            let taken = try await house.change(answer, body).json()
            #expect(taken["state"]?.string == "open")
            #expect(house.jobs.values == before + ["answer \(Self.uuid) 2"])
            let one = try await house.get("\(Self.path)/\(Self.id)").json()
            #expect(one["waits_for"] == nil)
            #expect(one["would_send"]?.object?["refund_preference"]?.string == "decline")
            #expect(one["would_send"]?.object?["because"]?.object?["refund_preference"]?.string == "by_hand")
            #expect(one["would_send"]?.object?["delivery_status"]?.string == "undelivered_wrong_item")
            let acts = one["audit"]?.array?.compactMap { $0.object?["actor"]?.string }
            #expect(acts == ["apple", "shop"])
            // She withdraws it: what has not gone out does not.
            _ = await house.change(consent, #"{"is_given": false}"#)
            #expect(try await house.get("\(Self.path)/\(Self.id)").json()["waits_for"]?.string == "needs_consent")
            let history = try await house.get(consent).json()["audit"]?.array?.compactMap {
                $0.object?["act"]?.string
            }
            #expect(history == ["given", "withdrawn"])
        }
    }

    /// What was moved is told of by consent of who has it now, unless who had it has refused. Each row: what is recorded of
    /// both, and whether an answer still lacks consent.
    @Test(
        arguments: [
            (nil, nil, true), (true, nil, true), (nil, true, false), (true, true, false), (false, true, true),
            (true, false, true),
        ] as [(Bool?, Bool?, Bool)]
    )
    func whoseThePurchaseIsConsents(before: Bool?, now: Bool?, isLacking: Bool) async throws {
        var terms = Self.terms()
        terms.sandbox = .everybody(until: Timestamp(milliseconds: .max))
        try await TestHouse(terms: terms).open { house in
            try await Self.ask(house)
            let path = "\(Self.path)/\(Self.id)"
            let customer = try #require(try await house.get(path).json()["customer_id"]?.string)
            let body =
                #"{"original_transaction_id": "7001", "to_customer_id": "zoe", "environment": "sandbox", "#
                + #""test_signed": true}"#
            #expect(await house.change("/v1/transfers", body).status == .ok)
            for (name, isGiven) in [(customer, before), ("zoe", now)] {
                guard let isGiven else { continue }
                let said = await house.change("/v1/customers/\(name)/consent", #"{"is_given": \#(isGiven)}"#)
                #expect(said.status == .ok)
            }
            let one = try await house.get(path).json()
            #expect(one["customer_id"]?.string == "zoe")
            #expect((one["waits_for"]?.string == "needs_consent") == isLacking)
        }
    }

    @Test func aPersonObjects() async throws {
        try await TestHouse(terms: Self.terms(.byTerms)).open { house in
            try await Self.ask(house)
            let decline = "\(Self.path)/\(Self.id)/decline"
            for _ in 0..<2 {
                let declined = try await house.change(decline).json()
                #expect(declined["state"]?.string == "declined")
            }
            let late = await house.change("\(Self.path)/\(Self.id)/answer")
            #expect(try late.json()["code"]?.string == "request_is_declined")
            let events = try await house.get("/v1/events", query: "environment=sandbox&test_signed=true").json()
            let types = events["events"]?.array?.compactMap { $0.object?["event"]?.object?["type"]?.string }
            #expect(types?.suffix(2) == ["consumption.requested", "consumption.closed"])
            #expect(await house.change("\(Self.path)/nothing/decline").status == .notFound)
        }
    }

    @Test func aRequestOfYesterdayIsTooLate() async throws {
        try await TestHouse(terms: Self.terms(.byTerms)).open { house in
            try await Self.ask(house)
            house.clock.advance(by: .seconds(300))
            let late = await house.change("\(Self.path)/\(Self.id)/answer")
            #expect(try late.json()["code"]?.string == "too_late")
        }
    }

    @Test(arguments: ["%29n", "MK-1234", "MK%201234", "MK1234%C3%A9", String(repeating: "M", count: 65)])
    func whatIsNoNumberOfAppleNamesNoOrder(text: String) async throws {
        try await TestHouse().open { house in
            #expect(await house.change("/v1/apple/orders/\(text)/lookup", "").status == .notFound)
            #expect(house.jobs.values == [])
        }
    }

    /// Each row: a question, its body; and how it is taken in, or the member at fault.
    @Test(arguments: [
        ("orders/MK1234/lookup", "", "order.look_up"), ("orders/MK1234/lookup", #"{"a": 1}"#, "a"),
        ("subscriptions/7/extend", #"{"days": 7}"#, "subscription.extend"),
        ("subscriptions/7/extend", #"{"days": 91}"#, "days"), ("subscriptions/7/extend", "{}", "days"),
        ("subscriptions/7/extend", #"{"days": 7, "reason": "mood"}"#, "reason"),
        ("subscriptions/7/extend", #"{"days": 7, "environment": "xcode"}"#, "environment"),
        (
            "subscriptions/extend", #"{"product_id": "pro", "days": 7, "storefronts": ["USA"]}"#,
            "subscriptions.extend"
        ),
        ("subscriptions/extend", #"{"product_id": "pro", "days": 7, "storefronts": []}"#, "storefronts"),
        ("subscriptions/extend", #"{"product_id": "pro", "days": 7, "storefronts": ["usa"]}"#, "storefronts"),
        ("subscriptions/extend", #"{"days": 7}"#, "product_id"),
        (
            "transactions/7/account-token", #"{"app_account_token": "7e3fb204-2a6c-4d0f-9d8a-0d6a5e8f4b11"}"#,
            "account_token.set"
        ),
        ("transactions/7/account-token", #"{"app_account_token": "x"}"#, "app_account_token"),
        (
            "customers/ann/account-token", #"{"app_account_token": "7e3fb204-2a6c-4d0f-9d8a-0d6a5e8f4b11"}"#,
            "account_token.set_all"
        ),
        ("customers/ann/account-token", "{}", "app_account_token"),
    ])
    func supportsQuestionsAreTakenInAndAnsweredLater(path: String, body: String, outcome: String) async throws {
        try await TestHouse().open { house in
            let answer = await house.change("/v1/apple/\(path)", body, idempotencyKey: "once")
            guard answer.status == .accepted else {
                let problem = try answer.json()
                #expect(answer.status == .badRequest)
                #expect(problem["field"]?.string == outcome)
                #expect(house.jobs.values == [])
                return
            }
            let json = try answer.json()
            #expect(json["kind"]?.string == outcome && json["state"]?.string == "waiting")
            #expect(json["asked_by"]?.string == "shop")
            #expect(house.jobs.values == ["ask \(outcome)"])
            let place = try #require(answer.fields["Location"])
            let again = await house.change("/v1/apple/\(path)", body, idempotencyKey: "once")
            #expect(again.fields["Idempotent-Replayed"] == "true" && again.fields["Location"] == place)
            #expect(try await house.get(place).json()["id"]?.string == json["id"]?.string)
            #expect(await house.get(place, key: TestHouse.otherKey).status == .notFound)
            #expect(try await house.get("/v1/apple/requests").json()["requests"]?.array?.count == 1)
        }
    }

    @Test func anAppWithoutAKeyAsksNobody() async throws {
        try await TestHouse().open { house in
            let answer = await house.change("/v1/apple/orders/MK1234/lookup", "", key: TestHouse.otherKey)
            let problem = try answer.json()
            #expect(problem["code"]?.string == "no_key")
            #expect(house.jobs.values == [])
        }
    }
}
