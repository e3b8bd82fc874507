import PurchaseModel
import Testing

@Suite struct RecordingTests {
    struct OrderRow {
        var first: (customer: String?, order: String?)
        var then: (customer: String?, order: String?)
        var kept: String?
    }

    @Test func theFirstProofIsRecorded() throws {
        var ledger = Ledger()
        let decision = ledger.record(try Facts.recording(Facts.transaction(), customer: "ann", order: "o-1"))
        let row = try #require(decision.changes.first?.recorded)
        #expect(decision.changes == [.insert(row)])
        #expect(decision.outcomes.map(\.recorded) == [row])
        #expect(decision.outcomes.map(\.standing) == [.recorded])
        #expect(decision.outcomes.map(\.isNew) == [true])
        #expect(!decision.isRepetition)
        #expect(row.recordedAt == Facts.now)
        #expect(row.customer?.text == "ann")
        #expect(row.order?.text == "o-1")
    }

    @Test func theSameProofAgainChangesNothingAndIsAnsweredTheSame() throws {
        var ledger = Ledger()
        let recording = try Facts.recording(Facts.transaction(), customer: "ann")
        let first = ledger.record(recording)
        let again = ledger.record(recording, at: Facts.now.advanced(by: .seconds(60)))
        #expect(again.changes == [])
        #expect(again.isRepetition)
        #expect(again.outcomes.map(\.recorded) == first.outcomes.map(\.recorded))
        #expect(again.outcomes.map(\.standing) == [.recorded])
    }

    @Test func aProofWithoutTransactionsDecidesNothing() throws {
        var ledger = Ledger()
        #expect(ledger.record(try Facts.recording()) == Decision())
    }

    /// Each row: facts in the order of their arrival, each the second when Apple signed it and `r` for revoked; and
    /// whether the transaction is revoked after them.
    @Test(arguments: [
        ("0 5r", true), ("5r 0", true), ("5r 0 4", true), ("5r 9", false), ("9 5r", false), ("5r 9 5r", false),
        ("5r 9 12r", true), ("5 5r", true), ("5r 5", true), ("0r", true), ("0", false),
    ])
    func theFactSignedLastDecidesAboutARevocation(facts: String, isRevoked: Bool) throws {
        var ledger = Ledger()
        var last: Decision?
        for fact in facts.split(separator: " ") {
            let second = try #require(Int64(fact.filter(\.isNumber)))
            let transaction = try Facts.transaction(signed: second, revoked: fact.hasSuffix("r"))
            last = ledger.record(try Facts.recording(transaction))
        }
        let outcome = try #require(last?.outcomes.first)
        #expect(outcome.standing == (isRevoked ? .revoked : .recorded))
        #expect((outcome.recorded.transaction.revocation != nil) == isRevoked)
    }

    @Test func anUpgradeStaysWhateverOlderFormatsSay() throws {
        var upgraded = try Facts.transaction(signed: 1)
        upgraded.isUpgraded = true
        var ledger = Ledger()
        ledger.record(try Facts.recording(upgraded))
        let later = ledger.record(try Facts.recording(Facts.transaction(signed: 2)))
        #expect(later.outcomes.map(\.standing) == [.upgraded])
        // A receipt gives it a date of cancellation, a refund a reason as well.
        var told = try Facts.transaction(signed: 3, revoked: true)
        told.revocation?.reason = nil
        #expect(ledger.record(try Facts.recording(told)).outcomes.map(\.standing) == [.upgraded])
        told.signedAt = told.signedAt.advanced(by: .seconds(1))
        told.revocation?.reason = 0
        #expect(ledger.record(try Facts.recording(told)).outcomes.map(\.standing) == [.revoked])
    }

    @Test(arguments: [true, false])
    func aPoorerFormatErasesNothing(richComesFirst: Bool) throws {
        var rich = try Facts.transaction(signed: richComesFirst ? 1 : 2)
        rich.kind = .consumable
        rich.price = Price(milliunits: 990, currency: "EUR")
        rich.accountToken = AccountToken(high: 1, low: 2)
        rich.storefront = "DEU"
        rich.ownership = .purchased
        rich.offer = Offer(kind: .introductory)
        rich.subscriptionGroup = "g"
        rich.webOrderLineItem = "w"
        rich.appTransaction = "t"
        rich.expiresAt = Facts.moment(9)
        rich.originallyPurchasedAt = Facts.moment(0)
        var poor = try Facts.transaction(signed: richComesFirst ? 2 : 1)
        poor.ownership = nil
        var ledger = Ledger()
        for fact in richComesFirst ? [rich, poor] : [poor, rich] { ledger.record(try Facts.recording(fact)) }
        #expect(Array(ledger.facts.values) == [rich])
    }

    /// A receipt of a subscription, made after StoreKit 2 told of it: whole seconds, and less of the offer.
    @Test(arguments: [true, false])
    func aLaterReceiptCutsNothing(receiptComesFirst: Bool) throws {
        var signed = try Facts.transaction(signed: 1)
        signed.kind = .autoRenewable
        signed.purchasedAt = Timestamp(milliseconds: 1_600_000_000_123)
        signed.originallyPurchasedAt = Timestamp(milliseconds: 1_500_000_000_456)
        signed.expiresAt = Timestamp(milliseconds: 1_700_000_000_789)
        signed.offer = Offer(kind: .introductory, discount: "FREE_TRIAL", period: "P1W")
        signed.revocation = Revocation(
            at: Timestamp(milliseconds: 1_600_000_500_999),
            reason: 1,
            type: "REFUND_PRORATED",
            percentage: 40_000
        )
        var receipt = try Facts.transaction(signed: 2)
        receipt.kind = .autoRenewable
        receipt.ownership = nil
        receipt.originallyPurchasedAt = Timestamp(seconds: 1_500_000_000)
        receipt.expiresAt = Timestamp(seconds: 1_700_000_000)
        receipt.offer = Offer(kind: .introductory, discount: "FREE_TRIAL")
        receipt.revocation = Revocation(at: Timestamp(seconds: 1_600_000_500))
        var ledger = Ledger()
        for fact in receiptComesFirst ? [receipt, signed] : [signed, receipt] {
            ledger.record(try Facts.recording(fact))
        }
        var expected = signed
        expected.signedAt = Facts.moment(2)
        #expect(Array(ledger.facts.values) == [expected])
    }

    /// Apple's receipts do not say that a consumable was refunded.
    @Test func aNewerReceiptMakesNoRefundedConsumableGood() throws {
        var ledger = Ledger()
        ledger.record(try Facts.recording(Facts.transaction(signed: 1, revoked: true)))
        var receipt = try Facts.transaction(signed: 9)
        receipt.kind = .consumable
        receipt.ownership = nil
        #expect(ledger.record(try Facts.recording(receipt)).outcomes.map(\.standing) == [.revoked])
        // What StoreKit 2 signs later still can, when a refund is taken back.
        let reversed = ledger.record(try Facts.recording(Facts.transaction(signed: 5)))
        #expect(reversed.outcomes.map(\.standing) == [.recorded])
    }

    @Test func whoCameFirstOwnsIt() throws {
        var ledger = Ledger()
        ledger.record(try Facts.recording(Facts.transaction(), customer: "ann", order: "o-1"))
        let other = ledger.record(try Facts.recording(Facts.transaction(), customer: "bob", order: "o-2"))
        #expect(other.changes == [])
        #expect(other.outcomes.map(\.standing) == [.ownedByAnother])
        #expect(other.outcomes.map(\.isNew) == [false])
        #expect(other.outcomes.first?.recorded.order?.text == "o-1")
    }

    @Test func anotherCustomersNewerFactCountsButMovesNothing() throws {
        var ledger = Ledger()
        ledger.record(try Facts.recording(Facts.transaction(), customer: "ann"))
        let other = ledger.record(
            try Facts.recording(Facts.transaction(signed: 1, revoked: true), customer: "bob")
        )
        #expect(other.outcomes.map(\.standing) == [.ownedByAnother])
        #expect(other.changes.map(\.recorded.customer?.text) == ["ann"])
        let owner = ledger.record(try Facts.recording(Facts.transaction(), customer: "ann"))
        #expect(owner.outcomes.map(\.standing) == [.revoked])
    }

    @Test func whatCameWithoutACustomerIsOwnedByTheFirstWhoNamesOne() throws {
        var ledger = Ledger()
        ledger.record(try Facts.recording(Facts.transaction()))
        let ann = ledger.record(try Facts.recording(Facts.transaction(), customer: "ann", order: "o-1"))
        #expect(ann.changes.count == 1)
        #expect(ann.outcomes.map(\.standing) == [.recorded])
        #expect(ann.outcomes.map(\.isNew) == [false])
        let bob = ledger.record(try Facts.recording(Facts.transaction(), customer: "bob"))
        #expect(bob.outcomes.map(\.standing) == [.ownedByAnother])
        #expect(ledger.rows.values.map(\.order?.text) == ["o-1"])
    }

    /// Each row: who named an order when the transaction was new, who names one now, and what is kept.
    @Test(arguments: [
        OrderRow(first: ("ann", nil), then: ("ann", "o-2"), kept: "o-2"),
        OrderRow(first: ("ann", "o-1"), then: ("ann", "o-2"), kept: "o-1"),
        OrderRow(first: ("ann", nil), then: ("bob", "o-2"), kept: nil),
        OrderRow(first: ("ann", nil), then: (nil, "o-2"), kept: nil),
        OrderRow(first: (nil, "o-1"), then: ("ann", "o-2"), kept: "o-1"),
        OrderRow(first: (nil, nil), then: (nil, "o-2"), kept: "o-2"),
    ])
    func theOwnerNamesTheOrderOnce(row: OrderRow) throws {
        var ledger = Ledger()
        ledger.record(try Facts.recording(Facts.transaction(), customer: row.first.customer, order: row.first.order))
        ledger.record(try Facts.recording(Facts.transaction(), customer: row.then.customer, order: row.then.order))
        #expect(ledger.rows.values.map(\.order?.text) == [row.kept])
    }

    @Test func theSameIDTwiceInOneProofIsOneOutcomeAndOneRow() throws {
        var ledger = Ledger()
        let plain = try Facts.transaction(signed: 1)
        let revoked = try Facts.transaction(signed: 2, revoked: true)
        let other = try Facts.transaction(2)
        let decision = ledger.record(try Facts.recording(plain, other, revoked, plain))
        #expect(decision.outcomes.map(\.recorded.transaction) == [revoked, other])
        #expect(decision.outcomes.map(\.standing) == [.revoked, .recorded])
        #expect(decision.outcomes.map(\.isNew) == [true, true])
        #expect(decision.changes == decision.outcomes.map { .insert($0.recorded) })
    }

    @Test func aKnownIDTwiceInOneProofIsUpdatedOnce() throws {
        var ledger = Ledger()
        ledger.record(try Facts.recording(Facts.transaction(signed: 1)))
        let newest = try Facts.transaction(signed: 3)
        let decision = ledger.record(
            try Facts.recording(Facts.transaction(signed: 1), Facts.transaction(signed: 2, revoked: true), newest)
        )
        #expect(decision.changes.map(\.recorded.transaction) == [newest])
        #expect(decision.outcomes.map(\.recorded.transaction) == [newest])
        #expect(decision.outcomes.map(\.isNew) == [false])
    }

    /// An older proof says whose it is, or adds what the newer one left out: what proves the transaction stays.
    @Test func onlyAFactThatCountsProvesItAnew() throws {
        var ledger = Ledger()
        let known = try Facts.transaction(signed: 5, revoked: true)
        ledger.record(try Facts.recording(known))
        var richer = try Facts.transaction(signed: 1)
        richer.webOrderLineItem = "7"
        let added = ledger.record(try Facts.recording(richer))
        #expect(added.changes == added.outcomes.map { .amendByMore($0.recorded) } && added.changes.count == 1)
        #expect(added.outcomes.first?.recorded.transaction.revocation == known.revocation)
        #expect(added.outcomes.first?.recorded.transaction.webOrderLineItem == "7")
        let named = ledger.record(try Facts.recording(richer, customer: "ann"))
        #expect(named.changes == named.outcomes.map { .amend($0.recorded) } && named.changes.count == 1)
        let newer = try Facts.transaction(signed: 9)
        let both = ledger.record(try Facts.recording(richer, newer, customer: "ann", order: "o-1"))
        #expect(both.changes == both.outcomes.map { .update($0.recorded) } && both.changes.count == 1)
    }

    /// Apple may tell of a purchase before its customer shows it: her proof is what it is given for, whatever else it tells, and
    /// hers alone.
    @Test(arguments: [Int64(1), 5, 9]) func whatIsShownFirstByItsCustomerIsNoted(signed: Int64) throws {
        var ledger = Ledger()
        let known = ledger.record(try Facts.recording(Facts.transaction(signed: 5)))
        #expect(known.shown.isEmpty)
        let shown = ledger.record(try Facts.recording(Facts.transaction(signed: signed), customer: "ann"))
        #expect(shown.shown == Set(shown.changes.map(\.recorded.key)) && shown.shown.count == 1)
        for customer in ["ann", "bob", nil] {
            let again = try Facts.recording(Facts.transaction(signed: 20), customer: customer)
            #expect(ledger.record(again).shown.isEmpty)
        }
        // Whoever shows it first may have it at once.
        #expect(ledger.record(try Facts.recording(Facts.transaction(7), customer: "ann")).shown.isEmpty)
    }

    /// Receipts tell less than StoreKit 2, whenever they are signed. Each row: what is known, what comes, by the second of its
    /// signature, a receipt with an `r`; and what becomes of the proof that is known.
    @Test(arguments: [
        (["5"], "9", "update"), (["5"], "r9", "less"), (["r5"], "r9", "update"), (["r5"], "9", "update"),
        (["r5"], "1", "more"), (["r5"], "r1", "none"), (["5", "r6"], "r9", "less"), (["5", "r6"], "9", "update"),
        (["5"], "r1", "none"), (["5", "r6"], "5", "none"),
    ])
    func whatTellsMoreIsKeptBesideTheNewest(known: [String], fresh: String, expected: String) throws {
        func fact(_ word: String) throws -> Transaction {
            var fact = try Facts.transaction(signed: try #require(Int64(word.filter(\.isNumber))))
            // Of what ends receipts tell refunds, too: they count by when they are signed.
            fact.expiresAt = Facts.moment(9_000)
            fact.ownership = word.hasPrefix("r") ? nil : .purchased
            fact.price = word.hasPrefix("r") ? nil : Price(milliunits: 990, currency: "EUR")
            return fact
        }
        var ledger = Ledger()
        for word in known { ledger.record(try Facts.recording(fact(word))) }
        let changes = ledger.record(try Facts.recording(fact(fresh))).changes.map { change in
            switch change {
            case .insert: "insert"
            case .update: "update"
            case .updateByLess: "less"
            case .amend: "amend"
            case .amendByMore: "more"
            }
        }
        #expect(changes == (expected == "none" ? [] : [expected]))
        #expect(ledger.facts.values.first?.price != nil || (known + [fresh]).allSatisfy { $0.hasPrefix("r") })
    }

    @Test func oneNumberOnTwoSidesOfAWallIsTwoTransactions() throws {
        var ledger = Ledger()
        let fact = try Facts.transaction()
        for environment in StoreEnvironment.known {
            for isTestSigned in [false, true] {
                let realm = Realm(environment: environment, isTestSigned: isTestSigned)
                #expect(!ledger.record(try Facts.recording(fact, customer: "ann", realm: realm)).isRepetition)
            }
        }
        #expect(!ledger.record(try Facts.recording(fact, customer: "bob", app: "other")).isRepetition)
        #expect(ledger.rows.count == StoreEnvironment.known.count * 2 + 1)
        // A test signer's revocation reaches nothing on the other side.
        let revoked = try Facts.transaction(signed: 9, revoked: true)
        ledger.record(try Facts.recording(revoked, realm: Realm(environment: .production, isTestSigned: true)))
        #expect(ledger.rows.values.count { $0.transaction.revocation != nil } == 1)
    }
}
