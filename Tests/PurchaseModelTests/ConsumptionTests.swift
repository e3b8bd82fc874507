import PurchaseModel
import Testing

/// What Apple is told when a customer wants money back, when, and with whose consent.
@Suite struct ConsumptionTests {
    private static let hour = Duration.seconds(3_600)

    private static func ask(
        _ number: Int64 = 1,
        type: String = "CONSUMPTION_REQUEST",
        id: String = "n-1",
        at moment: Timestamp = Facts.now,
        isAdvancedCommerce: Bool = false
    ) throws -> Announcement {
        Announcement(
            id: try #require(NotificationID(id)),
            type: type,
            signedAt: moment,
            transaction: TransactionID(number: number),
            original: TransactionID(number: number),
            matter: type == "CONSUMPTION_REQUEST"
                ? .refundRequest(reason: "LEGAL", isAdvancedCommerce: isAdvancedCommerce) : .none
        )
    }

    private static func key(_ id: String = "n-1", realm: Realm = Shop.production) throws -> ConsumptionKey {
        ConsumptionKey(app: try Shop.app(), realm: realm, id: try #require(NotificationID(id)))
    }

    private static func consent(_ isGiven: Bool, _ subject: ConsentSubject? = nil) throws -> Consent {
        let subject = try subject ?? .customer(try #require(CustomerID("ann")))
        return Consent(key: ConsentKey(app: try Shop.app(), subject: subject), isGiven: isGiven, since: Facts.now)
    }

    /// A shop in which Apple has asked about ann's coins.
    private static func shop(
        realm: Realm = Shop.production,
        asked: Announcement? = nil,
        _ change: (inout AppTerms) -> Void = { $0.consumption.answers = true }
    ) throws -> Shop {
        var shop = try Shop(change)
        try shop.show(Sold.coins(), realm: realm)
        try shop.hear(asked ?? Self.ask(), Sold.coins(), realm: realm)
        return shop
    }

    /// What is known of the coins.
    private static func facts(_ shop: Shop) throws -> ConsumptionFacts {
        let key = TransactionKey(app: try Shop.app(), realm: Shop.production, id: try Sold.coins().id)
        return ConsumptionFacts(transaction: shop.situation[key], fulfilment: shop.situation.fulfilment(of: key))
    }

    /// When it goes out: each row has where, after how long the shop would like it, when it was heard after it was
    /// asked; and when the answer goes out after that, all in seconds; `nil` when it is too late.
    @Test(arguments: [
        (StoreEnvironment.production, 3_600, 0, Int64?.some(3_600)), (.production, 0, 0, 0),
        (.production, 3_600, 39_600, 1_800), (.production, 3_600, 42_000, 0), (.production, 41_400, 0, 41_400),
        (.production, 3_600, 43_200, nil), (.sandbox, 3_600, 0, 150), (.sandbox, 60, 0, 60), (.sandbox, 60, 290, 0),
        (.sandbox, 60, 300, nil),
    ])
    func theAnswerWaitsForTheShopButNotTooLong(
        environment: StoreEnvironment,
        delay: Int64,
        heard: Int64,
        answers: Int64?
    ) throws {
        let realm = Realm(environment: environment, isTestSigned: false)
        let asked = Facts.now.advanced(by: .seconds(-heard))
        let shop = try Self.shop(realm: realm, asked: try Self.ask(at: asked)) { terms in
            terms.consumption.answers = true
            terms.consumption.delay = .seconds(delay)
        }
        let request = try #require(shop.situation.consumption(try Self.key(realm: realm)))
        let window: Int64 = environment == .production ? 43_200 : 300
        #expect(request.deadline == asked.advanced(by: .seconds(window)))
        #expect(request.state == (answers == nil ? .lapsed : .open))
        if let answers { #expect(request.answerAt == Facts.now.advanced(by: .seconds(answers))) }
        #expect(shop.types.last == "consumption.requested")
    }

    /// Apple's words come in any order. Each row: when it gave the money back, in seconds after it asked.
    @Test(arguments: [(Int64(60), ConsumptionState.overtaken), (0, .overtaken), (-60, .open)])
    func whatAppleHasDecidedIsNotAnswered(refunded: Int64, state: ConsumptionState) throws {
        var shop = try Shop { $0.consumption.answers = true }
        try shop.show(Sold.coins())
        try shop.show(Sold.refunded(Sold.coins(), after: refunded, percentage: 50_000), by: nil)
        try shop.hear(try Self.ask(), Sold.coins())
        #expect(try #require(shop.situation.consumption(try Self.key())).state == state)
    }

    /// Each row: the policy, what is recorded of the customer and of the account; and what is done when its time has come.
    @Test(
        arguments: [
            (true, ConsentRule.perCustomer, nil, nil, "needs_consent"), (true, .perCustomer, true, nil, "sent"),
            (true, .perCustomer, false, nil, "needs_consent"), (true, .byTerms, nil, nil, "sent"),
            (true, .byTerms, false, nil, "needs_consent"), (true, .byTerms, nil, false, "needs_consent"),
            (true, .perCustomer, true, false, "needs_consent"), (true, .byTerms, nil, true, "sent"),
            (false, .byTerms, true, nil, "held"),
        ] as [(Bool, ConsentRule, Bool?, Bool?, String)]
    )
    func nothingIsSentWithoutConsent(
        answers: Bool,
        rule: ConsentRule,
        customer: Bool?,
        account: Bool?,
        done: String
    ) throws {
        let shop = try Self.shop()
        let request = try #require(shop.situation.consumption(try Self.key()))
        var facts = try Self.facts(shop)
        facts.consent = try customer.map { try Self.consent($0) }
        facts.accountConsent = try account.map { try Self.consent($0, .appTransaction("7", Shop.production)) }
        let terms = ConsumptionTerms(answers: answers, consent: rule)
        switch nextStep(of: request, facts, terms, at: request.answerAt) {
        case .send: #expect(done == "sent")
        case .wait(let moment, let why):
            #expect(done == why.rawValue)
            #expect(moment > request.answerAt && moment < request.deadline)
        case .close, .nothing: Issue.record("it ended")
        }
        // Too late is too late, and says why.
        let ending = done == "sent" ? "apple_did_not_answer" : done == "held" ? "answers_off" : "no_consent"
        #expect(nextStep(of: request, facts, terms, at: request.deadline) == .close(because: ending))
        let early = nextStep(of: request, facts, terms, at: Facts.now)
        if done == "sent" { #expect(early == .wait(until: request.answerAt, .scheduled)) }
    }

    /// Each row: what became of the purchase; and what Apple is told of it, with the reason.
    @Test(
        arguments: [
            ("nobody's", nil, nil, nil, nil), ("not recorded", nil, nil, nil, nil), ("not told", nil, nil, nil, nil),
            ("out of old books", nil, nil, nil, nil), ("not in the catalogue", nil, nil, nil, nil),
            ("without an order, shown late", nil, nil, nil, nil),
            ("without an order", "undelivered_other", "nothing_was_given", 0, "not_delivered"),
            ("in the books", "delivered", "in_the_books", 0, "used_of_balance"),
            ("acknowledged", "delivered", "acknowledged_by_shop", 0, "used_of_balance"),
            ("hers by old books", "delivered", "delivered_before_import", nil, "not_known"),
            ("half used", "delivered", "in_the_books", 50_000, "used_of_balance"),
            ("used up", "delivered", "in_the_books", 100_000, "used_of_balance"),
            ("season", "delivered", "in_the_books", 33_333, "time_passed"),
            ("monthly", "delivered", "in_the_books", nil, "apple_reckons_subscriptions"),
            ("told", "delivered", "shop_was_told", nil, "not_known"),
            ("could not be told", "undelivered_server_outage", "shop_could_not_be_told", 0, "not_delivered"),
        ] as [(String, String?, String?, Int?, String?)]
    )
    func onlyWhatTheLedgerKnowsIsSaid(
        what: String,
        delivery: String?,
        because: String?,
        percentage: Int?,
        percentageBecause: String?
    ) throws {
        let (request, facts) = try Self.purchase(what)
        let answer = preview(of: request, facts, ConsumptionTerms(), at: Facts.now.advanced(by: .seconds(30 * 86_400)))
        #expect(answer?.delivery.rawValue == delivery)
        #expect(answer?.deliveryBecause.rawValue == because)
        #expect(answer?.percentage == percentage)
        #expect(answer?.percentageBecause.rawValue == percentageBecause)
    }

    /// What the ledger does not know it does not say; a person may, and Apple is told that.
    @Test func whatNobodyKnowsWaitsForAPersonsWord() throws {
        var (request, facts) = try Self.purchase("out of old books")
        facts.consent = try Self.consent(true)
        let terms = ConsumptionTerms(answers: true, preference: .decline)
        guard case .wait(_, .deliveryUnknown) = nextStep(of: request, facts, terms, at: request.answerAt) else {
            Issue.record("Apple is told what nobody knows")
            return
        }
        #expect(nextStep(of: request, facts, terms, at: request.deadline) == .close(because: "delivery_unknown"))
        var situation = Situation()
        situation.note(request)
        func answer(_ word: ConsumptionWord) throws -> Decision {
            try decide(situation, answering: request.key, word, facts, terms: terms, by: "desk", at: Facts.now)
        }
        #expect(throws: ConsumptionFault.deliveryUnknown) { _ = try answer(ConsumptionWord(preference: .decline)) }
        let decision = try answer(ConsumptionWord(delivery: .delivered))
        #expect(decision.audit.map(\.detail) == ["delivered"])
        request = try #require(decision.consumptions.first?.row)
        guard case .send(let sent) = nextStep(of: request, facts, terms, at: Facts.now) else {
            Issue.record("it is not sent")
            return
        }
        #expect(sent.delivery == .delivered && sent.deliveryBecause == .byHand)
        #expect(sent.percentage == nil && sent.percentageBecause == .notKnown)
        #expect(sent.preference == .decline && sent.preferenceBecause == .configuration)
    }

    /// What she has not got nobody asks Apple to leave it at, unless a person does.
    @Test func aPolicyOfDecliningIsForWhatWasDelivered() throws {
        var (request, facts) = try Self.purchase("without an order")
        facts.consent = try Self.consent(true)
        let terms = ConsumptionTerms(answers: true, preference: .decline)
        let answer = preview(of: request, facts, terms, at: Facts.now)
        #expect(answer?.preference == nil && answer?.preferenceBecause == .notDelivered)
        var situation = Situation()
        situation.note(request)
        let word = ConsumptionWord(preference: .decline)
        let decision = try decide(
            situation,
            answering: request.key,
            word,
            facts,
            terms: terms,
            by: "desk",
            at: Facts.now
        )
        request = try #require(decision.consumptions.first?.row)
        #expect(preview(of: request, facts, terms, at: Facts.now)?.preference == .decline)
    }

    private static func purchase(_ what: String) throws -> (ConsumptionRequest, ConsumptionFacts) {
        var bought = try Sold.coins()
        if what == "season" || what == "monthly" {
            bought = Transaction(
                id: bought.id,
                originalID: bought.originalID,
                product: try Shop.product(what),
                kind: what == "monthly" ? .autoRenewable : .nonRenewing,
                purchasedAt: Facts.now,
                expiresAt: what == "monthly" ? Facts.now.advanced(by: .seconds(40 * 86_400)) : nil,
                signedAt: Facts.now
            )
        }
        let isUncatalogued = ["not told", "told", "could not be told"].contains(what)
        var shop = try Shop {
            if isUncatalogued { $0.products = nil }
            if what == "not in the catalogue" { $0.products = [:] }
            if what.hasPrefix("without an order") { $0.needsOrder = true }
        }
        if what.hasSuffix("shown late") { shop.now = bought.purchasedAt.advanced(by: .seconds(3 * 86_400)) }
        let isNobodys = what == "nobody's" || what == "out of old books"
        try shop.show(bought, by: isNobodys ? nil : "ann", from: what.hasSuffix("old books") ? .imported : .presented)
        if what == "acknowledged" { try shop.acknowledge(1, fence: 1) }
        try shop.hear(try ask(), bought)
        let key = TransactionKey(app: try Shop.app(), realm: Shop.production, id: bought.id)
        if what == "told" || what == "could not be told" {
            shop.apply(
                decide(shop.situation, noting: what == "told" ? .sent : .failed, of: key, fence: 1, at: Facts.now)
            )
        }
        var facts = ConsumptionFacts(transaction: shop.situation[key], fulfilment: shop.situation.fulfilment(of: key))
        if what == "not recorded" { facts.fulfilment = nil }
        let left: Int64 = what == "half used" ? 50 : what == "used up" ? -20 : 1_000
        facts.balances = [try Shop.currency("gems"): left]
        return (try #require(shop.situation.consumption(try Self.key())), facts)
    }

    /// Each row: the policy's wish, a person's, the share that was used; and what Apple is told.
    @Test(
        arguments: [
            (nil, nil, 50_000, nil, "no_wish"), (.decline, nil, 0, .decline, "configuration"),
            (.decline, .grantFull, 0, .grantFull, "by_hand"),
            (.grantProrated, nil, 50_000, .grantProrated, "configuration"),
            (.grantProrated, nil, 0, nil, "not_divisible"), (.grantProrated, nil, 100_000, nil, "not_divisible"),
            (.grantProrated, .decline, 0, .decline, "by_hand"),
        ] as [(RefundPreference?, RefundPreference?, Int, RefundPreference?, String)]
    )
    func whatAppleShouldDecideIsAPersonsWishThenThePolicys(
        policy: RefundPreference?,
        person: RefundPreference?,
        used: Int,
        told: RefundPreference?,
        because: String
    ) throws {
        var (request, facts) = try Self.purchase("in the books")
        facts.balances = [try Shop.currency("gems"): Int64(100 - used / 1_000)]
        facts.consent = try Self.consent(true)
        var situation = Situation()
        situation.note(request)
        if let person {
            let decision = try decide(
                situation,
                answering: request.key,
                ConsumptionWord(preference: person),
                facts,
                terms: ConsumptionTerms(),
                by: "desk",
                at: Facts.now
            )
            request = try #require(decision.consumptions.first?.row)
            #expect(decision.audit.map(\.actor) == ["desk"])
        }
        let answer = preview(of: request, facts, ConsumptionTerms(preference: policy), at: Facts.now)
        #expect(answer?.preference == told)
        #expect(answer?.preferenceBecause.rawValue == because)
        #expect(answer?.percentage == used)
    }

    private static func answer(
        _ shop: Shop,
        _ facts: ConsumptionFacts,
        _ preference: RefundPreference? = nil
    ) throws -> Decision {
        try decide(
            shop.situation,
            answering: key(),
            ConsumptionWord(preference: preference),
            facts,
            terms: ConsumptionTerms(),
            by: "desk",
            at: Facts.now
        )
    }

    @Test func aPersonAnswersAtOnceOrNotAtAll() throws {
        var shop = try Self.shop { _ in }
        let (key, now) = (try Self.key(), Facts.now)
        var facts = try Self.facts(shop)
        #expect(throws: ConsumptionFault.noConsent) { _ = try Self.answer(shop, facts) }
        facts.consent = try Self.consent(true)
        #expect(throws: ConsumptionFault.notDivisible) { _ = try Self.answer(shop, facts, .grantProrated) }
        shop.apply(try Self.answer(shop, facts))
        let request = try #require(shop.situation.consumption(key))
        #expect(request.turn == 2 && request.isApproved && request.answerAt == now)
        guard case .send(let answer) = nextStep(of: request, facts, ConsumptionTerms(), at: now) else {
            Issue.record("it is not sent")
            return
        }
        shop.apply(decide(shop.situation, sending: answer, to: key, at: now))
        // On its way it is too late to object; once more on its way it says the same.
        #expect(throws: ConsumptionFault.requestIs(.sending)) {
            _ = try decide(shop.situation, declining: key, by: "desk", at: now)
        }
        let sending = try #require(shop.situation.consumption(key))
        facts.balances = [try Shop.currency("gems"): 0]
        #expect(nextStep(of: sending, facts, ConsumptionTerms(), at: now) == .send(answer))
        // A consent that is withdrawn meanwhile stops what has not arrived.
        facts.consent = try Self.consent(false)
        guard case .wait(_, .needsConsent) = nextStep(of: sending, facts, ConsumptionTerms(), at: now) else {
            Issue.record("it is sent without consent")
            return
        }
        shop.apply(decide(shop.situation, settling: key, as: .answered, because: nil, at: now))
        #expect(decide(shop.situation, settling: key, as: .refused, because: "x", at: now).isEmpty)
        #expect(shop.types.suffix(2) == ["consumption.requested", "consumption.answered"])
    }

    /// Each row: when Apple declined, in seconds after it asked, of which purchase; it is heard first.
    @Test(arguments: [
        (Int64(1_800), Int64(1), ConsumptionState.overtaken), (0, 1, .overtaken), (-1, 1, .open), (1_800, 2, .open),
    ])
    func whatAppleHasDeclinedBeforeIsNotAnswered(declined: Int64, number: Int64, state: ConsumptionState) throws {
        var shop = try Shop { $0.consumption.answers = true }
        try shop.show(Sold.coins(), Sold.coins(2))
        let moment = Facts.now.advanced(by: .seconds(declined))
        try shop.hear(try Self.ask(number, type: "REFUND_DECLINED", id: "n-2", at: moment), Sold.coins(number))
        try shop.hear(try Self.ask(), Sold.coins())
        let request = try #require(shop.situation.consumption(try Self.key()))
        #expect(request.state == state)
        #expect(request.ending == (state == .overtaken ? "REFUND_DECLINED" : nil))
    }

    @Test func whatAppleHasDecidedIsNotAnsweredAnyMore() throws {
        for type in ["REFUND", "REFUND_DECLINED"] {
            var shop = try Self.shop()
            try shop.hear(try Self.ask(type: type, id: "n-2"), Sold.coins())
            let request = try #require(shop.situation.consumption(try Self.key()))
            #expect(request.state == .overtaken && request.ending == type)
            #expect(shop.types.contains("consumption.closed"))
        }
        // Another purchase's refund is no word on this one, and an older one no word on a newer request.
        for (number, second) in [(Int64(2), Int64(0)), (1, -1)] {
            var shop = try Self.shop()
            let moment = Facts.now.advanced(by: .seconds(second))
            try shop.hear(
                try Self.ask(number, type: "REFUND_DECLINED", id: "n-2", at: moment),
                number == 1 ? Sold.coins() : try Facts.transaction(number)
            )
            #expect(shop.situation.consumption(try Self.key())?.state == .open)
        }
    }

    @Test func aPurchaseThroughAdvancedCommerceIsAnsweredInTheFirstForm() throws {
        let shop = try Self.shop(asked: try Self.ask(isAdvancedCommerce: true))
        #expect(shop.situation.consumption(try Self.key())?.form == .first)
    }

    @Test func aConsentIsRecordedOnceAndEveryChangeHasItsAct() throws {
        var situation = Situation()
        let key = try Self.consent(true).key
        var acts: [String] = []
        for isGiven in [true, true, false, false, true] {
            let decision = decide(situation, consenting: isGiven, of: key, by: "shop", at: Facts.now)
            acts += decision.audit.map { "\($0.number) \($0.act)" }
            situation.apply(decision)
        }
        #expect(acts == ["1 given", "2 withdrawn", "3 given"])
    }
}
