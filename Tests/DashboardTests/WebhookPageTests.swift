import Dashboard
import HTTP
import Pipeline
import PurchaseModel
import Storage
import Synchronization
import Testing

/// Endpoints, their deliveries, and what operators do about them.
@Suite struct WebhookPageTests {
    private static let canary = "https://shop.example/\"'><script>alert(1)</script>"
    private static let id = WebhookEndpointID(checked: "whe_one")
    private static let page = "/dashboard/webhook?id=whe_one"
    private static let realm = Realm(environment: .production, isTestSigned: false)

    /// What was sent, and what is answered to it.
    private final class Receiver: Sendable {
        private let calls = Mutex(0)
        private let status = Mutex(HTTPStatus.ok)

        var count: Int { calls.withLock { $0 } }

        func answer(_ status: HTTPStatus) { self.status.withLock { $0 = status } }

        var caller: HTTPCaller {
            HTTPCaller { _ in
                self.calls.withLock { $0 += 1 }
                let body = Array("<script>alert(2)</script>".utf8) + [0xFF, 0xFE]
                return HTTPResponse(self.status.withLock { $0 }, body: body)
            }
        }
    }

    /// An endpoint, so many events for it, and a sender that runs when it is told to.
    private struct House {
        let desk: Desk
        let sender: WebhookSender
        let receiver = Receiver()

        init(url: String = WebhookPageTests.canary) async throws {
            let receiver = receiver
            let made = Mutex<WebhookSender?>(nil)
            desk = Desk { store, clock in
                let sender = WebhookSender(
                    work: StoredWebhookWork(store),
                    post: WebhookPost(caller: receiver.caller, clock: clock, rule: EgressRule()),
                    clock: clock,
                    owner: LeaseOwner(checked: "node-1")
                ) { _ in }
                made.withLock { $0 = sender }
                return RunningServer(sender: sender)
            }
            sender = try #require(made.withLock { $0 })
            let endpoint = WebhookEndpoint(
                id: id,
                app: Desk.app,
                url: url,
                secrets: [WebhookSecret.generate()],
                filter: EventFilter(realms: [realm]),
                concurrencyMax: 4,
                ordersPerCustomer: false,
                acknowledgesBy2xx: false,
                createdAt: desk.clock.now
            )
            try await desk.store.write { write throws(StoreFailure) in try write.createEndpoint(endpoint) }
        }

        func tell(_ count: Int64) async throws {
            let now = desk.clock.now
            let rows = (1...count).map { number in
                EventRow(
                    id: EventID(checked: "evt_\(number)"),
                    app: Desk.app,
                    realm: realm,
                    customer: CustomerID(checked: "<script>alert(3)</script>"),
                    sequence: number,
                    type: "order.paid",
                    happenedAt: now,
                    learnedAt: now,
                    data: Array("{}".utf8)
                )
            }
            try await desk.store.write { write throws(StoreFailure) in try write.append(rows) }
        }

        func kill() async throws {
            let now = desk.clock.now
            _ = try await desk.store.write { write throws(StoreFailure) in
                try write.buryDeliveries(endpoint: id, because: "attempts_exhausted", at: now, limit: 100)
            }
        }

        var endpoint: WebhookEndpoint {
            get async throws {
                try #require(try await desk.store.read { reader throws(StoreFailure) in try reader.endpoint(id) })
            }
        }

        var figures: WebhookFigures {
            get async throws {
                try #require(try await desk.store.read { reader throws(StoreFailure) in try reader.webhookFigures(id) })
            }
        }
    }

    @Test func theListSaysHowEachEndpointDoes() async throws {
        let house = try await House()
        try await house.tell(3)
        let browser = try await house.desk.browser(.viewer)
        let list = await browser.get("/dashboard/webhooks")
        #expect(list.status == .ok)
        for word in ["whe_one", "on", "production", "<td class=\"number\">3</td>"] { #expect(list.text.contains(word)) }
        #expect(await browser.get("/dashboard/webhook?id=whe_two").status == .notFound)
        #expect(await browser.get("/dashboard/delivery?endpoint=whe_one&event=evt_9").status == .notFound)
    }

    @Test func anEndpointThatFailsIsSaidToBeLeftAlone() async throws {
        let house = try await House(url: "https://shop.example/hooks")
        house.receiver.answer(.internalServerError)
        try await house.tell(8)
        await house.sender.deliverDue()
        let browser = try await house.desk.browser(.viewer)
        let page = await browser.get(Self.page)
        #expect(page.text.contains("left alone for a while after failures"))
        #expect(page.text.contains("Left alone until"))
        #expect(page.text.contains("waits for the next try"))
    }

    @Test func whatAReceiverAnswersIsNeverMarkup() async throws {
        let house = try await House(url: "https://shop.example/hooks")
        try await house.tell(1)
        await house.sender.deliverDue()
        let browser = try await house.desk.browser(.operator)
        let delivery = await browser.get("/dashboard/delivery?endpoint=whe_one&event=evt_1")
        #expect(delivery.text.contains("alert(2)") && delivery.text.contains("alert(3)"))
        #expect(delivery.text.contains("delivered"))
        let hostile = try await House()
        let other = try await hostile.desk.browser(.operator)
        for page in [
            delivery, await other.get(Self.page), await other.get("/dashboard/webhooks"),
        ] {
            #expect(page.text.contains("alert("))
            #expect(!page.text.contains("<script"))
        }
    }

    @Test func aPageOfManyDeliveriesStaysSmall() async throws {
        let house = try await House(url: "https://shop.example/" + String(repeating: "<", count: 2_000))
        try await house.tell(200)
        let browser = try await house.desk.browser(.operator)
        for page in [Self.page, Self.page + "&state=dead", Self.page + "&before=100", "/dashboard/webhooks"] {
            let answer = await browser.get(page)
            #expect(answer.status == .ok)
            #expect(answer.body.count < 100_000, "\(page): \(answer.body.count)")
        }
    }

    @Test func aNewSecretIsShownOnceAndMadeOnce() async throws {
        let house = try await House()
        let browser = try await house.desk.browser(.operator)
        let page = await browser.get(Self.page)
        let form = Browser.fields(page, of: "/dashboard/webhook/rotate", holding: "new secret")
        let done = await browser.post("/dashboard/webhook/rotate", form)
        let secrets = try await house.endpoint.secrets
        #expect(secrets.count == 2)
        let secret = try #require(secrets.first?.text)
        #expect(done.status == .ok && done.text.contains(secret))
        let again = await browser.post("/dashboard/webhook/rotate", form)
        #expect(again.status == .conflict && !again.text.contains("whsec_"))
        #expect(try await house.endpoint.secrets == secrets)
        #expect(!(await browser.get(Self.page).text.contains("whsec_")))
        let after = await browser.get(Self.page)
        let kept = await browser.press(after, "/dashboard/webhook/rotate", holding: "name=\"keep\"")
        #expect(kept.status == .seeOther)
        #expect(try await house.endpoint.secrets.map(\.text) == [secret])
        let log = try await house.desk.log()
        #expect(log.map(\.action) == ["webhook_secrets_ended", "webhook_secret_made"])
        let details: [String?] = [
            "from enabled, secrets: 2 to enabled, secrets: 1", "from enabled, secrets: 1 to enabled, secrets: 2",
        ]
        #expect(log.map { $0.detail } == details)
    }

    @Test func anEndpointIsSwitchedOffAndOn() async throws {
        let house = try await House()
        let browser = try await house.desk.browser(.operator)
        let page = await browser.get(Self.page)
        let form = Browser.fields(page, of: "/dashboard/webhook/enable")
        #expect(await browser.post("/dashboard/webhook/enable", form).status == .seeOther)
        #expect(try await house.endpoint.isEnabled == false)
        #expect(await browser.get(Self.page).text.contains("disabled: by request"))
        // The same again is the same; what was seen before it is not there any more.
        #expect(await browser.post("/dashboard/webhook/enable", form).status == .seeOther)
        let stale = await browser.press(page, "/dashboard/webhook/enable", [("once", Token().text)])
        #expect(stale.status == .conflict && stale.text.contains("Look again"))
        #expect(await browser.press(await browser.get(Self.page), "/dashboard/webhook/enable").status == .ok)
        #expect(try await house.endpoint.isEnabled)
        let log = try await house.desk.log()
        #expect(log.map(\.action) == ["webhook_enabled", "webhook_disabled"])
        #expect(log.last?.detail == "from enabled, secrets: 1 to disabled, secrets: 1")
        #expect(log.first?.detail?.hasPrefix("from disabled, secrets: 1 to enabled, secrets: 1") == true)
    }

    @Test func whatHappenedWhileItWasOffIsOffered() async throws {
        let house = try await House(url: "https://shop.example/hooks")
        let browser = try await house.desk.browser(.operator)
        _ = await browser.press(await browser.get(Self.page), "/dashboard/webhook/enable")
        #expect(await browser.get(Self.page).text.contains("Disabled since"))
        try await house.tell(3)
        #expect(try await house.figures.backlog == 0)
        let disabled = await browser.get(Self.page)
        let enabled = await browser.press(disabled, "/dashboard/webhook/enable")
        #expect(enabled.status == .ok && enabled.text.contains("Send what it missed"))
        // After a double click the browser shows the answer to the second.
        let again = await browser.press(disabled, "/dashboard/webhook/enable")
        #expect(again.status == .seeOther)
        #expect(await browser.get(Self.page).text.contains("Send what it missed"))
        #expect(!enabled.text.contains("Disabled since"))
        let sent = await browser.press(enabled, "/dashboard/webhook/replay", holding: "Send what it missed")
        #expect(sent.status == .ok && sent.text.contains("3 are on their way again"))
        #expect(try await house.figures.backlog == 3)
        // It is offered until it was sent.
        #expect(!(await browser.get(Self.page).text.contains("Send what it missed")))
    }

    @Test func whatHappenedWhileItWasOffIsPutAside() async throws {
        let house = try await House(url: "https://shop.example/hooks")
        let browser = try await house.desk.browser(.operator)
        _ = await browser.press(await browser.get(Self.page), "/dashboard/webhook/enable")
        try await house.tell(3)
        _ = await browser.press(await browser.get(Self.page), "/dashboard/webhook/enable")
        let page = await browser.get(Self.page)
        #expect(await browser.press(page, "/dashboard/webhook/missed").status == .seeOther)
        // What was seen before it is not there any more.
        let stale = await browser.press(page, "/dashboard/webhook/missed", [("once", Token().text)])
        #expect(stale.status == .conflict && stale.text.contains("Look again"))
        #expect(!(await browser.get(Self.page).text.contains("Send what it missed")))
        #expect(try await house.figures.backlog == 0)
        #expect(try await house.desk.log().first?.action == "webhook_missed_put_aside")
    }

    @Test func aTestMessageIsSentOnce() async throws {
        let house = try await House(url: "https://shop.example/hooks")
        let browser = try await house.desk.browser(.operator)
        let form = Browser.fields(await browser.get(Self.page), of: "/dashboard/webhook/test")
        let sent = await browser.post("/dashboard/webhook/test", form)
        #expect(sent.status == .ok && sent.text.contains("answered 200"))
        #expect(await browser.post("/dashboard/webhook/test", form).status == .seeOther)
        #expect(house.receiver.count == 1)
        #expect(try await house.desk.log().map(\.action) == ["webhook_tested"])
    }

    @Test func whatFailedIsSentAgain() async throws {
        let house = try await House(url: "https://shop.example/hooks")
        try await house.tell(5)
        try await house.kill()
        #expect(try await house.figures.dead == 5)
        let browser = try await house.desk.browser(.operator)
        let page = await browser.get(Self.page)
        let form = Browser.fields(page, of: "/dashboard/webhook/replay", holding: "value=\"dead\"")
        let done = await browser.post("/dashboard/webhook/replay", form)
        #expect(done.status == .ok && done.text.contains("5 are on their way again"))
        await house.sender.deliverDue()
        #expect(house.receiver.count == 5)
        try await house.kill()
        #expect(await browser.post("/dashboard/webhook/replay", form).status == .seeOther)
        #expect(try await house.figures.backlog == 0)
        #expect(try await house.desk.log().map { $0.detail } == ["all that failed: 5"])
    }

    @Test(arguments: [
        ("2027-01-15T00:00", "2027-01-16T00:00", HTTPStatus.ok),
        ("2027-01-16T00:00", "2027-01-15T00:00", .unprocessableContent),
        ("yesterday", "2027-01-15T00:00", .unprocessableContent), ("", "", .unprocessableContent),
    ])
    func aTimeIsSentAgain(from: String, to: String, status: HTTPStatus) async throws {
        let house = try await House(url: "https://shop.example/hooks")
        // 2027-01-15T08:00:00Z
        try await house.tell(2)
        await house.sender.deliverDue()
        let browser = try await house.desk.browser(.operator)
        let answer = await browser.press(
            await browser.get(Self.page),
            "/dashboard/webhook/replay",
            holding: "range",
            [("from", from), ("to", to)]
        )
        #expect(answer.status == status)
        #expect(try await house.figures.backlog == (status == .ok ? 2 : 0))
        #expect(try await house.desk.log().count == (status == .ok ? 1 : 0))
    }

    @Test func moreThanAWriteMayTakeGoesOn() async throws {
        let house = try await House(url: "https://shop.example/hooks")
        try await house.tell(1_500)
        try await house.kill()
        let browser = try await house.desk.browser(.operator)
        let first = await browser.press(
            await browser.get(Self.page),
            "/dashboard/webhook/replay",
            holding: "range",
            [("from", "2027-01-15T00:00"), ("to", "2027-01-16T00:00")]
        )
        #expect(first.text.contains("Go on with the next"))
        let second = await browser.press(first, "/dashboard/webhook/replay", holding: "name=\"cursor\"")
        #expect(second.status == .ok && !second.text.contains("Go on with the next"))
        #expect(try await house.figures.backlog == 1_500)
    }

    @Test func oneEventIsSentAgain() async throws {
        let house = try await House(url: "https://shop.example/hooks")
        try await house.tell(1)
        await house.sender.deliverDue()
        let browser = try await house.desk.browser(.operator)
        let page = await browser.get("/dashboard/delivery?endpoint=whe_one&event=evt_1")
        let link = try #require(page.text.firstMatch(of: /href="(\/dashboard\/replay[^"]*)"/))
        let again = await browser.get(String(link.output.1).replacing("&amp;", with: "&"))
        let reason = [("reason", "their server was down")]
        let form = Browser.fields(again, of: "/dashboard/replay") + reason
        for _ in 1...2 {
            let sent = await browser.post("/dashboard/replay", form)
            #expect(sent.status == .seeOther)
            #expect(sent.fields["Location"] == "/dashboard/delivery?endpoint=whe_one&event=evt_1")
            await house.sender.deliverDue()
            #expect(house.receiver.count == 2)
        }
        // Another form, while it waits.
        let renewed = await browser.press(again, "/dashboard/replay", reason + [("once", Token().text)])
        #expect(renewed.status == .seeOther)
        let third = await browser.press(again, "/dashboard/replay", reason + [("once", Token().text)])
        #expect(third.status == .conflict)
        let why = "to whe_one; because: their server was down"
        #expect(try await house.desk.log().map { $0.detail } == [why, why])
    }

    @Test func whoMaySeeMayNotAct() async throws {
        let house = try await House()
        let browser = try await house.desk.browser(.viewer)
        let page = await browser.get(Self.page)
        #expect(page.status == .ok && !page.text.contains("/dashboard/webhook/"))
        let token = [("form_token", Browser.formToken(in: page)), ("id", "whe_one"), ("version", "1"), ("once", "x")]
        for act in ["test", "enable", "rotate", "replay"] {
            #expect(await browser.post("/dashboard/webhook/\(act)", token).status == .forbidden)
        }
        #expect(try await house.endpoint.version == 1)
        #expect(try await house.desk.log().isEmpty)
    }
}
