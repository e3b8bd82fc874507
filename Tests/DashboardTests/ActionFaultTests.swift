import Dashboard
import HTTP
import Pipeline
import PurchaseModel
import Storage
import Testing

/// What is done once is done once, and what cannot be done says why.
@Suite struct ActionFaultTests {
    /// Every action on something that it can be done to.
    private static let actions: [(name: String, target: String)] = [
        ("attach", ActingDesk.transaction("/attach", 1, [("order", "cancelled")])),
        ("transfer", ActingDesk.transaction("/transfer", 3, [("to", "bob")])),
        ("acknowledge", ActingDesk.transaction("/acknowledge", 3)),
        ("cancel", ActingDesk.address("/order/cancel", [("app", "shop"), ("id", "open")])),
        (
            "adjust",
            ActingDesk.address(
                "/adjust",
                [
                    ("app", "shop"), ("customer", ActingDesk.hostile), ("side", "production"), ("currency", "gold<i>"),
                    ("amount", "5"),
                ]
            )
        ),
        ("resync", ActingDesk.transaction("/resync", 3)),
        ("grant", gift("/grant", "pro<u>")), ("revoke", gift("/revoke", "pro<u>", of: "eve")),
    ]

    private static func gift(
        _ path: String,
        _ entitlement: String,
        of customer: String = "bob",
        until: String = ""
    ) -> String {
        ActingDesk.address(
            path,
            [
                ("app", "shop"), ("customer", customer), ("side", "production"), ("entitlement", entitlement),
                ("until", until),
            ]
        )
    }

    /// One purchase that waits, one that was delivered to an order; an order that waits, and one that was cancelled; and
    /// somebody who was granted something by hand.
    private static func desk() async throws -> ActingDesk {
        let acting = try await ActingDesk()
        try await acting.place(OrderID(checked: "cancelled"))
        try await acting.cancel(OrderID(checked: "cancelled"))
        try await acting.buy(1)
        try await acting.place(OrderID(checked: "paid"), product: ActingDesk.pro)
        try await acting.buy(3, product: ActingDesk.pro)
        try await acting.place(OrderID(checked: "open"), product: ActingDesk.pro)
        try await acting.grant("eve")
        return acting
    }

    private static func form(_ acting: ActingDesk, _ target: String) async -> (path: String, [(String, String)]) {
        let path = String(target.prefix { $0 != "?" })
        return (path, Browser.fields(await acting.browser.get(target), of: path))
    }

    @Test(arguments: actions.indices) func aFormThatIsSentTwiceDoesItOnce(index: Int) async throws {
        let (name, target) = Self.actions[index]
        let acting = try await Self.desk()
        let (path, fields) = await Self.form(acting, target)
        #expect(fields.contains { $0.0 == "once" }, "\(name)")
        let before = try await acting.events().count
        let first = await acting.browser.post(path, fields + [("reason", "because")])
        let events = try await acting.events().count
        #expect(first.status == .seeOther)
        #expect(events > before || name == "resync")
        let second = await acting.browser.post(path, fields + [("reason", "because")])
        #expect(second.status == .seeOther)
        #expect(second.fields["Location"] == first.fields["Location"])
        #expect(try await acting.events().count == events)
        #expect(try await acting.audit().count == 1)
        // The same form may not say something else.
        let other = await acting.browser.post(path, fields + [("reason", "another")])
        #expect(other.status == .conflict)
        #expect(try await acting.audit().count == 1)
    }

    @Test(arguments: actions.indices, ["", "   ", String(repeating: "x", count: 501), "a\0b"])
    func withoutAReasonNothingIsDone(index: Int, reason: String) async throws {
        let (name, target) = Self.actions[index]
        let acting = try await Self.desk()
        let before = try await acting.events()
        let sent = await acting.act(target, because: reason)
        #expect(sent.status == .unprocessableContent, "\(name)")
        #expect(sent.text.contains("role=\"alert\""))
        #expect(try await acting.events() == before)
        #expect(try await acting.audit().isEmpty)
        // The page has the form, to be sent again.
        let (path, _) = await Self.form(acting, target)
        #expect(Browser.fields(sent, of: path).contains { $0.0 == "once" })
    }

    @Test(arguments: actions.indices) func withoutTheNameThatItWasGivenAFormIsNotOurs(index: Int) async throws {
        let acting = try await Self.desk()
        let (path, fields) = await Self.form(acting, Self.actions[index].target)
        let sent = await acting.browser.post(path, fields.filter { $0.0 != "once" } + [("reason", "because")])
        #expect(sent.status == .badRequest)
        #expect(try await acting.audit().isEmpty)
    }

    /// What somebody else does between the page and its form.
    @Test func whatHasChangedSinceItWasShownIsLookedAtAgain() async throws {
        let acting = try await Self.desk()
        for name in ["transfer", "cancel", "adjust", "grant", "revoke"] {
            let target = try #require(Self.actions.first { $0.name == name }).target
            let (path, fields) = await Self.form(acting, target)
            let other =
                switch name {
                case "transfer": ActingDesk.transaction("/transfer", 3, [("to", "eve")])
                case "grant": Self.gift("/grant", "pro<u>", until: "2030-01-01T00:00")
                default: target
                }
            #expect(await acting.act(other).status == .seeOther, "\(name)")
            let rows = try await acting.audit().count
            let sent = await acting.browser.post(path, fields + [("reason", "because")])
            #expect(sent.status == .conflict, "\(name)")
            #expect(try await acting.audit().count == rows)
        }
        #expect(try await acting.balance() == 5)
    }

    @Test(arguments: [
        (ActingDesk.transaction("/attach", 1, [("order", "none")]), 404, "no such thing"),
        (ActingDesk.transaction("/attach", 1, [("order", "open")]), 409, "not what the order asks for"),
        (ActingDesk.transaction("/attach", 3, [("order", "open")]), 409, "The purchase is granted"),
        (ActingDesk.transaction("/attach", 3, [("order", "paid")]), 409, "done already"),
        (ActingDesk.transaction("/attach", 1, [("order", "a b")]), 422, "no order"),
        (ActingDesk.transaction("/attach", 99), 404, "no such"),
        (ActingDesk.transaction("/transfer", 3, [("to", ActingDesk.hostile)]), 409, "this customer"),
        (ActingDesk.transaction("/transfer", 3, [("to", "a b")]), 422, "no customer"),
        (ActingDesk.transaction("/transfer", 99, [("to", "bob")]), 404, "no such"),
        (ActingDesk.transaction("/acknowledge", 1), 404, "no such"),
        (ActingDesk.transaction("/resync", 99), 404, "no such"),
        (ActingDesk.address("/order/cancel", [("app", "shop"), ("id", "paid")]), 409, "The order is paid"),
        (ActingDesk.address("/order/cancel", [("app", "shop"), ("id", "cancelled")]), 409, "done already"),
        (ActingDesk.address("/order/cancel", [("app", "shop"), ("id", "none")]), 404, "no such"),
        (ActingDesk.address("/order/cancel", [("app", "shop")]), 400, "not understood"),
        (gift("/grant", "pro<u>", of: "eve"), 409, "done already"),
        (gift("/grant", "pro<u>", until: "2001-01-01T00:00"), 409, "has passed"),
        (gift("/grant", "pro<u>", until: "soon"), 422, "A moment is written"),
        (gift("/grant", "gold"), 422, "No product of this app"),
        (gift("/grant", "pro<u>", of: "null"), 422, "word for nothing"),
        (gift("/revoke", "pro<u>"), 404, "no such"),
        (gift("/revoke", "a b"), 400, "not understood"),
        (ActingDesk.address("/submission/resync", [("id", "00")]), 400, "not understood"),
    ])
    func whatCannotBeDoneSaysWhy(target: String, status: Int, word: String) async throws {
        let acting = try await Self.desk()
        let before = try await acting.events()
        let page = await acting.browser.get(target)
        #expect(page.status.rawValue == status)
        #expect(page.text.contains(word), "\(page.text)")
        // Whoever sends it all the same is told the same.
        let (path, query) = HTTPRequest.split(target: target.utf8)
        let token = Browser.formToken(in: await acting.browser.get("/dashboard"))
        let typed = FormPairs.read(query ?? "") + [("once", Token().text), ("reason", "because")]
        let sent = await acting.browser.post(path, typed + [("form_token", token)])
        #expect(sent.status.rawValue == status)
        #expect(try await acting.events() == before)
        #expect(try await acting.audit().isEmpty)
    }

    @Test(arguments: ["", "0", "1.5", "1e3", "999999999999999999", "9223372036854775808", "gold"])
    func anAmountIsAWholeNumber(amount: String) async throws {
        let acting = try await ActingDesk()
        let place = [("app", "shop"), ("customer", "ann"), ("side", "production"), ("currency", "gold")]
        let page = await acting.browser.get(ActingDesk.address("/adjust", place + [("amount", amount)]))
        #expect(page.status == (amount.isEmpty ? .ok : .unprocessableContent))
        #expect(Browser.fields(page, of: "/dashboard/adjust").isEmpty)
    }

    @Test func aCurrencyThatNoProductGivesIsNone() async throws {
        let acting = try await ActingDesk()
        let place = [("app", "shop"), ("customer", "ann"), ("side", "production"), ("currency", "gold")]
        let page = await acting.browser.get(ActingDesk.address("/adjust", place + [("amount", "5")]))
        #expect(page.status == .conflict)
        #expect(page.text.contains("There are: gold&lt;i&gt;."))
        #expect(Browser.fields(page, of: "/dashboard/adjust").isEmpty)
    }

    @Test func withoutAKeyAppleIsNotAsked() async throws {
        for reach in [AppleReach.nothing, .receipts] {
            let acting = try await ActingDesk(reach: reach)
            try await acting.buy(7)
            let page = await acting.browser.get(ActingDesk.transaction("/resync", 7))
            #expect(page.status == .conflict)
            #expect(page.text.contains("nothing by which Apple would answer"))
            #expect(Browser.fields(page, of: "/dashboard/resync").isEmpty)
        }
    }

    @Test func anEventIsSentAgainAndNotWhileItIsOnItsWay() async throws {
        let (acting, event) = try await Self.told()
        let now = acting.desk.clock.now
        let page = await acting.browser.get("/dashboard/transaction?app=shop&id=7")
        #expect(page.text.contains(event.text))
        #expect(page.text.contains("Send again"))
        let target = Self.replay(event, to: "whe_shop")
        // It waits to be sent for the first time.
        #expect(await acting.browser.get(target).status == .conflict)
        let id = WebhookDeliveryID(endpoint: try #require(WebhookEndpointID("whe_shop")), event: event)
        try await acting.desk.store.write { write throws(StoreFailure) in
            _ = try write.buryDeliveries(endpoint: id.endpoint, because: "tried", at: now, limit: 100)
        }
        #expect(await acting.browser.get(target).isEscaped)
        let sent = await acting.act(target)
        #expect(sent.status == .seeOther)
        #expect(sent.fields["Location"] == "/dashboard/transaction?app=shop&id=7")
        let delivery = try await acting.read { reader throws(StoreFailure) in try reader.delivery(id) }
        #expect(delivery?.state == .pending)
        #expect(try await acting.audit().map(\.action) == ["event_replayed"])
        #expect(await acting.browser.get(target).status == .conflict)
        let elsewhere = Self.replay(event, to: "whe_shop", back: "https://evil.example/")
        #expect(await acting.browser.get(elsewhere).status == .badRequest)
    }

    @Test func whatAWebhookIsNotForItIsNeverSent() async throws {
        let (acting, event) = try await Self.told()
        let page = await acting.browser.get("/dashboard/transaction?app=shop&id=7")
        #expect(page.text.contains("webhook=whe_shop") && !page.text.contains("webhook=whe_sandbox"))
        // Nor when somebody makes the address up.
        let unwanted = await acting.browser.get(Self.replay(event, to: "whe_sandbox"))
        #expect(unwanted.status == .conflict && unwanted.text.contains("not for such events"))
    }

    /// A purchase that two webhooks of the app could be told of, of which one is for the sandbox alone.
    private static func told() async throws -> (ActingDesk, EventID) {
        let acting = try await ActingDesk()
        let apart = EventFilter(realms: [Realm(environment: .sandbox, isTestSigned: false)])
        let wishes = [("whe_shop", EventFilter.everything), ("whe_sandbox", apart)]
        let endpoints = try wishes.map { name, filter in
            WebhookEndpoint(
                id: try #require(WebhookEndpointID(name)),
                app: Desk.app,
                url: "https://shop.example/" + ActingDesk.hostile,
                secrets: [try #require(WebhookSecret([UInt8](repeating: 1, count: 32)))],
                filter: filter,
                concurrencyMax: 1,
                ordersPerCustomer: true,
                acknowledgesBy2xx: false,
                createdAt: acting.desk.clock.now
            )
        }
        try await acting.desk.store.write { write throws(StoreFailure) in
            for endpoint in endpoints { try write.createEndpoint(endpoint) }
        }
        try await acting.place(acting.order)
        try await acting.buy(7)
        let events = try await acting.read { reader throws(StoreFailure) in
            try reader.events(app: Desk.app, after: .start, where: .everything, limit: 9).events.map(\.event)
        }
        return (acting, try #require(events.first { $0.type == "delivery.granted" }).id)
    }

    private static func replay(
        _ event: EventID,
        to webhook: String,
        back: String = "/dashboard/transaction?app=shop&id=7"
    ) -> String {
        ActingDesk.address(
            "/replay",
            [("app", "shop"), ("event", event.text), ("webhook", webhook), ("back", back)]
        )
    }

    @Test func aViewerIsOfferedNothing() async throws {
        let seen = try await ActingDesk(.viewer, needsOrder: false)
        let offered = try await ActingDesk(needsOrder: false)
        for acting in [seen, offered] {
            try await acting.place(acting.order)
            try await acting.buy(7)
        }
        let customer = ActingDesk.address("/customer", [("app", "shop"), ("id", seen.customer.text)])
        try await seen.grant(seen.customer.text)
        try await offered.grant(seen.customer.text)
        for (target, words) in [
            ("/dashboard/transaction?app=shop&id=7", ["/transfer?", "/acknowledge?", "/resync?"]),
            (customer, ["/adjust?", "/grant?", "/revoke?"]),
            ("/dashboard/search?q=nobody-yet", ["/customer?"]),
        ] {
            let (viewer, operatorPage) = (await seen.browser.get(target).text, await offered.browser.get(target).text)
            #expect(words.allSatisfy { viewer.range(of: $0) == nil })
            #expect(words.allSatisfy { operatorPage.range(of: $0) != nil }, "\(target)")
        }
        // Who has nothing but that is found.
        #expect(await seen.browser.get("/dashboard/search?q=eve").status == .ok)
        try await seen.grant("eve")
        #expect(await seen.browser.get("/dashboard/search?q=eve").status == .seeOther)
    }

    /// Who looks for whose it was wants to move it back.
    @Test func whoHadWhatIsAnothersByNowIsFound() async throws {
        let acting = try await ActingDesk(needsOrder: false)
        let search = ActingDesk.address("/search", [("q", acting.customer.text)])
        #expect(await acting.browser.get(search).status == .ok)
        try await acting.buy(7)
        #expect(await acting.browser.get(search).status == .seeOther)
        let chain = ChainKey(
            app: Desk.app,
            realm: ActingDesk.realm,
            original: try #require(TransactionID(number: 7))
        )
        let now = acting.desk.clock.now
        let moved = try await acting.desk.store.write { write throws(StoreFailure) in
            try LedgerRequests.transfer(chain, to: CustomerID(checked: "eve"), isDryRun: false, at: now, in: write)
        }
        _ = try moved.get()
        #expect(await acting.browser.get(search).status == .seeOther)
    }
}

/// What stands in a query.
private enum FormPairs {
    static func read(_ query: String) -> [(String, String)] {
        query.split(separator: "&").map { pair in
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            var bytes: [UInt8] = []
            var rest = halves.count == 2 ? halves[1][...] : ""
            while !rest.isEmpty {
                bytes.append(UInt8(rest.dropFirst().prefix(2), radix: 16) ?? 0)
                rest = rest.dropFirst(3)
            }
            return (String(halves[0]), String(decoding: bytes, as: UTF8.self))
        }
    }
}
