import Dashboard
import HTTP
import Jobs
import Pipeline
import PurchaseModel
import Storage
import Testing

/// What each action of an operator does to the ledger, and what it leaves in the audit log.
@Suite struct ActionTests {
    @Test func aWaitingPurchasePaysTheOrderThatWasChosen() async throws {
        let acting = try await ActingDesk()
        try await acting.place(acting.order)
        try await acting.cancel(acting.order)
        try await acting.buy(7)
        #expect(try await acting.fulfilment(7)?.state == .waiting)
        let choice = await acting.browser.get(ActingDesk.transaction("/attach", 7))
        #expect(choice.status == .ok)
        #expect(choice.isEscaped)
        #expect(choice.text.contains("Orders that it fits"))
        #expect(Browser.fields(choice, of: "/dashboard/attach").isEmpty)
        let target = ActingDesk.transaction("/attach", 7, [("order", acting.order.text)])
        #expect(await acting.browser.get(target).isEscaped)
        #expect(try await acting.fulfilment(7)?.state == .waiting)
        let sent = await acting.act(target)
        #expect(sent.status == .seeOther)
        #expect(sent.fields["Location"] == "/dashboard/transaction?app=shop&id=7")
        let given = try #require(try await acting.fulfilment(7))
        #expect(given.state == .granted)
        #expect(given.match == .byHand)
        #expect(try await acting.state(of: acting.order) == .paid)
        #expect(try await acting.balance() == 100)
        #expect(try await acting.events().contains("order.paid"))
        let row = try #require(try await acting.audit().first)
        #expect(row.action == "purchase_attached")
        #expect(row.admin?.text == "olga")
        #expect(row.remote == "192.0.2.1:4000" || row.remote == "192.0.2.1")
        #expect(row.subject == "transaction 7 of shop, production")
        #expect(row.detail == "to order \(acting.order.text); because: she wrote to us <b>")
    }

    @Test func whatWasGivenWithoutAnOrderPaysOneAndIsGivenOnce() async throws {
        let acting = try await ActingDesk(needsOrder: false)
        try await acting.buy(7)
        try await acting.place(acting.order)
        let page = ActingDesk.address("/transaction", [("app", "shop"), ("id", "7")])
        #expect(await acting.browser.get(page).text.contains("Have it pay an order"))
        let target = ActingDesk.transaction("/attach", 7, [("order", acting.order.text)])
        let shown = await acting.browser.get(target)
        #expect(shown.status == .ok && shown.isEscaped)
        #expect(shown.text.contains("of no other delivery") && !shown.text.contains("is told to deliver"))
        #expect(try await acting.state(of: acting.order) == .pending)
        #expect(await acting.act(target).status == .seeOther)
        let given = try #require(try await acting.fulfilment(7))
        #expect(given.order == acting.order && given.match == .byHand && given.fence == 1)
        #expect(try await acting.state(of: acting.order) == .paid)
        #expect(try await acting.balance() == 100)
        #expect(try await acting.events() == ["delivery.granted", "order.placed", "order.paid"])
        #expect(!(await acting.browser.get(page).text.contains("Have it pay an order")))
    }

    /// First it is refused, with the word that overrules it; what is done then says so, in the ledger and in the audit log.
    @Test func anAccountTokenThatContradictsIsOverruledByAWordMore() async throws {
        let acting = try await ActingDesk()
        try await acting.place(acting.order, token: AccountToken(high: 1, low: 2))
        try await acting.buy(7) { $0.accountToken = AccountToken(high: 3, low: 4) }
        let asked = await acting.browser.get(ActingDesk.transaction("/attach", 7, [("order", acting.order.text)]))
        #expect(asked.status == .conflict && asked.isEscaped)
        #expect(asked.text.contains("another order&#39;s, or another customer&#39;s"))
        #expect(asked.text.contains("Overrule the account token") && !asked.text.contains("name=\"reason\""))
        let more = [("order", acting.order.text), ("from", ""), ("overrule", "token")]
        let sent = await acting.act(ActingDesk.transaction("/attach", 7, more))
        #expect(sent.status == .seeOther)
        #expect(try await acting.fulfilment(7)?.match == .byHandAgainstToken)
        let detail = try #require(try await acting.audit().first?.detail)
        #expect(detail.hasPrefix("to order \(acting.order.text), whatever its account token says; because: "))
    }

    @Test func fromAnOrderItLeadsBackToTheOrder() async throws {
        let acting = try await ActingDesk()
        try await acting.place(acting.order)
        try await acting.cancel(acting.order)
        try await acting.buy(7)
        let order = ActingDesk.address("/order", [("app", "shop"), ("id", acting.order.text)])
        let page = await acting.browser.get(order)
        #expect(page.isEscaped)
        #expect(page.text.contains("Have it pay this order"))
        let more = [("order", acting.order.text), ("from", "order")]
        let sent = await acting.act(ActingDesk.transaction("/attach", 7, more))
        #expect(sent.fields["Location"]?.hasPrefix("/dashboard/order?app=shop&id=order") == true)
        #expect(!(await acting.browser.get(order).text.contains("Have it pay this order")))
    }

    @Test func aTransferIsShownBeforeItIsDoneAndGoesBackTheSameWay() async throws {
        let acting = try await ActingDesk(needsOrder: false)
        try await acting.buy(9, product: ActingDesk.pro)
        let told = try await acting.events()
        let target = ActingDesk.transaction("/transfer", 9, [("to", "bob<b>")])
        let shown = await acting.browser.get(target)
        #expect(shown.isEscaped)
        for word in ["From", "To", "pro&lt;u&gt; for ever", "transfer the purchase back to", "Is the id right?"] {
            #expect(shown.text.contains(word), "\(word)")
        }
        // Shown is not done.
        #expect(try await acting.events() == told)
        #expect(try await acting.audit().isEmpty)
        #expect(await acting.act(target).status == .seeOther)
        let key = ChainKey(app: Desk.app, realm: ActingDesk.realm, original: try #require(TransactionID(number: 9)))
        let owner = try await acting.read { reader throws(StoreFailure) in try reader.owners([key]).first }
        #expect(owner?.customer.text == "bob<b>")
        #expect(try await acting.events().suffix(2) == ["customer.transferred", "customer.transferred"])
        let page = await acting.browser.get("/dashboard/transaction?app=shop&id=9")
        #expect(page.text.contains("Transfer it back to"))
        let back = ActingDesk.transaction("/transfer", 9, [("to", acting.customer.text)])
        #expect(await acting.act(back).status == .seeOther)
        let again = try await acting.read { reader throws(StoreFailure) in try reader.owners([key]).first }
        #expect(again?.customer == acting.customer)
        let from = "from \(acting.customer.text) to bob<b>; because: she wrote to us <b>"
        #expect(try await acting.audit().map(\.action) == ["purchase_transferred", "purchase_transferred"])
        #expect(try await acting.audit().last?.detail == from)
    }

    @Test func whatAppleSignedForItsOwnerIsTransferredWithAWordMore() async throws {
        let acting = try await ActingDesk(needsOrder: false)
        let token = AccountToken(ofCustomer: acting.customer)
        try await acting.buy(9, product: ActingDesk.pro) { $0.accountToken = token }
        let asked = await acting.browser.get(ActingDesk.transaction("/transfer", 9, [("to", "bob")]))
        #expect(asked.status == .conflict && asked.isEscaped)
        #expect(asked.text.contains("Overrule the account token") && !asked.text.contains("name=\"reason\""))
        let told = try await acting.events()
        let sent = await acting.act(ActingDesk.transaction("/transfer", 9, [("to", "bob"), ("overrule", "token")]))
        #expect(sent.status == .seeOther)
        #expect(try await acting.events().count == told.count + 2)
        let detail = try #require(try await acting.audit().first?.detail)
        #expect(detail.contains(" to bob, whatever its account token says; because: "))
    }

    @Test(arguments: [(amount: "250", after: 250, word: "Give 250"), ("-40", -40, "Take 40")])
    func aBalanceIsChangedWithAReason(amount: String, after: Int64, word: String) async throws {
        let acting = try await ActingDesk()
        let place = [("app", "shop"), ("customer", acting.customer.text), ("side", "production")]
        let asked = await acting.browser.get(ActingDesk.address("/adjust", place))
        #expect(asked.isEscaped)
        #expect(asked.text.contains("gold&lt;i&gt;"))
        let target = ActingDesk.address("/adjust", place + [("currency", "gold<i>"), ("amount", amount)])
        let shown = await acting.browser.get(target)
        #expect(shown.isEscaped)
        #expect(shown.text.contains(word))
        let sent = await acting.act(target)
        #expect(sent.status == .seeOther)
        #expect(sent.fields["Location"]?.hasPrefix("/dashboard/customer?app=shop&id=") == true)
        #expect(try await acting.balance() == after)
        #expect(try await acting.events() == ["balance.adjusted"])
        #expect(try await acting.audit().first?.action == "balance_adjusted")
        let detail = "\(after > 0 ? "+" : "")\(after) gold<i>, from 0 to \(after); because: "
        #expect(try await acting.audit().first?.detail?.hasPrefix(detail) == true)
    }

    @Test func anEntitlementIsGrantedByHandAndRevoked() async throws {
        let acting = try await ActingDesk()
        let customer = ActingDesk.address("/customer", [("app", "shop"), ("id", acting.customer.text)])
        let place = [("app", "shop"), ("customer", acting.customer.text), ("side", "production")]
        let asked = await acting.browser.get(ActingDesk.address("/grant", place))
        #expect(asked.isEscaped)
        #expect(asked.text.contains("pro&lt;u&gt;"))
        #expect(Browser.fields(asked, of: "/dashboard/grant").isEmpty)
        let more = [("entitlement", "pro<u>"), ("until", "2030-01-01T00:00")]
        let target = ActingDesk.address("/grant", place + more)
        let shown = await acting.browser.get(target)
        #expect(shown.isEscaped)
        #expect(shown.text.contains("Grant pro&lt;u&gt; until 2030-01-01T00:00:00.000Z"))
        #expect(await acting.act(target).status == .seeOther)
        let page = await acting.browser.get(customer)
        #expect(page.isEscaped)
        for word in [
            "May be used now", "granted by hand", "dashboard/olga", "she wrote to us &lt;b&gt;", "Revoke pro",
        ] {
            #expect(page.text.contains(word), "\(word)")
        }
        let revoke = ActingDesk.address("/revoke", place + [("entitlement", "pro<u>")])
        #expect(await acting.browser.get(revoke).isEscaped)
        #expect(await acting.act(revoke).status == .seeOther)
        let after = await acting.browser.get(customer)
        #expect(!after.text.contains("May be used now") && after.text.contains("revoked"))
        #expect(try await acting.events() == ["entitlement.granted", "entitlement.revoked"])
        let log = try await acting.audit()
        #expect(log.map(\.action) == ["entitlement_revoked", "entitlement_granted"])
        #expect(log.first?.detail?.hasPrefix("pro<u>; before: 2030-01-01T00:00:00.000Z; because: ") == true)
        #expect(log.last?.detail?.hasPrefix("pro<u> until 2030-01-01T00:00:00.000Z; before: none; because: ") == true)
    }

    /// No customer comes to be whose name is a word for nothing. What one was given before is taken back.
    @Test func aWordForNothingIsGivenNothing() async throws {
        let acting = try await ActingDesk()
        let place = [("app", "shop"), ("customer", "Undefined"), ("side", "production")]
        let gold = [("currency", "gold<i>")]
        let entitlement = [("entitlement", "pro<u>")]
        for (path, more) in [("/grant", entitlement), ("/adjust", gold + [("amount", "5")])] {
            let target = ActingDesk.address(path, place + more)
            let shown = await acting.browser.get(target)
            #expect(shown.status == .unprocessableContent && shown.text.contains("word for nothing"))
            #expect(Browser.fields(shown, of: "/dashboard" + path).isEmpty)
        }
        try await acting.grant("Undefined")
        #expect(await acting.act(ActingDesk.address("/revoke", place + entitlement)).status == .seeOther)
        let taking = ActingDesk.address("/adjust", place + gold + [("amount", "-5")])
        #expect(await acting.browser.get(taking).status == .ok)
        #expect(try await acting.events() == ["entitlement.granted", "entitlement.revoked"])
    }

    @Test func anOrderThatNobodyPaidIsCancelled() async throws {
        let acting = try await ActingDesk()
        try await acting.place(acting.order)
        let target = ActingDesk.address("/order/cancel", [("app", "shop"), ("id", acting.order.text)])
        #expect(await acting.browser.get(target).isEscaped)
        #expect(await acting.act(target).status == .seeOther)
        #expect(try await acting.state(of: acting.order) == .cancelled)
        #expect(try await acting.events() == ["order.placed", "order.cancelled"])
        #expect(try await acting.audit().map(\.action) == ["order_cancelled"])
        let detail = "from pending to cancelled; because: she wrote to us <b>"
        #expect(try await acting.audit().first?.detail == detail)
    }

    @Test func aDeliveryIsAcknowledgedByHand() async throws {
        let acting = try await ActingDesk()
        try await acting.place(acting.order)
        try await acting.buy(7)
        #expect(await acting.browser.get(ActingDesk.transaction("/acknowledge", 7)).isEscaped)
        #expect(await acting.act(ActingDesk.transaction("/acknowledge", 7)).status == .seeOther)
        #expect(try await acting.fulfilment(7)?.delivery == .acknowledged)
        #expect(try await acting.state(of: acting.order) == .delivered)
        #expect(try await acting.audit().map(\.action) == ["delivery_acknowledged"])
        #expect(try await acting.audit().first?.detail?.contains(", from pending; because: ") == true)
    }

    @Test func appleIsAskedAboutAPurchaseNow() async throws {
        let acting = try await ActingDesk()
        try await acting.buy(7)
        #expect(await acting.browser.get(ActingDesk.transaction("/resync", 7)).text.contains("all that the customer"))
        #expect(await acting.act(ActingDesk.transaction("/resync", 7)).status == .seeOther)
        let now = acting.desk.clock.now
        let isDue = try await acting.read { reader throws(StoreFailure) in
            try reader.hasDueJobs(kinds: [CustomerReading.kind], at: now)
        }
        #expect(isDue)
        #expect(try await acting.audit().map(\.detail) == ["history; because: she wrote to us <b>"])
    }

    @Test func appleIsAskedHowASubscriptionStandsNow() async throws {
        let acting = try await ActingDesk(reach: .receipts, needsOrder: false)
        let end = acting.desk.clock.now.advanced(by: .seconds(86_400))
        try await acting.buy(7, product: ProductID(checked: "monthly")) { sold in
            sold.kind = .autoRenewable
            sold.expiresAt = end
        }
        #expect(await acting.act(ActingDesk.transaction("/resync", 7)).status == .seeOther)
        let now = acting.desk.clock.now
        let isDue = try await acting.read { reader throws(StoreFailure) in
            try reader.hasDueJobs(kinds: [SubscriptionLook.kind], at: now)
        }
        #expect(isDue)
    }

    @Test func whatWaitsForAppleIsAskedForNow() async throws {
        let acting = try await ActingDesk()
        let submission = PendingSubmission(
            id: try #require(SubmissionID([UInt8](repeating: 5, count: 16))),
            app: Desk.app,
            digest: try #require(ProofDigest([UInt8](repeating: 3, count: 32))),
            format: "receipt",
            proof: Array(ActingDesk.hostile.utf8),
            customer: acting.customer,
            order: nil,
            reason: "unsettled",
            receivedAt: acting.desk.clock.now
        )
        let id = try await acting.desk.store.write { write throws(StoreFailure) in
            try write.keepPending(submission).id
        }
        // It was tried, and waits for an hour.
        let (now, later) = (acting.desk.clock.now, acting.desk.clock.now.advanced(by: .seconds(3_600)))
        let queue = JobQueue(store: acting.desk.store, clock: acting.desk.clock) { 1 }
        #expect(try await queue.enqueue(ProofDecision(id), due: later))
        let name = id.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let page = await acting.browser.get("/dashboard/submission?id=" + name)
        #expect(page.text.contains("/dashboard/submission/resync?id=" + name))
        #expect(await acting.act("/dashboard/submission/resync?id=" + name).status == .seeOther)
        #expect(try await acting.audit().map(\.detail) == ["proof; because: she wrote to us <b>"])
        let isDue = try await acting.read { reader throws(StoreFailure) in
            try reader.hasDueJobs(kinds: [ProofDecision.kind], at: now)
        }
        #expect(isDue)
    }
}
