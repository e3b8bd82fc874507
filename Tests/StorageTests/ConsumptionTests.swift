import PurchaseModel
import Storage
import Testing

/// What is kept of what Apple asks about purchases, of consents, and of who did what.
@Suite struct ConsumptionTests {
    private static let sandbox = Realm(environment: .sandbox, isTestSigned: true)
    private static let answer = ConsumptionAnswer(
        delivery: .undeliveredServerOutage,
        because: .shopCouldNotBeTold,
        isSampleProvided: true,
        percentage: 0,
        because: .notDelivered,
        preference: .grantFull,
        because: .byHand,
        consentBecause: .consentRecorded
    )

    private static func request(
        _ id: String,
        transaction: Int64 = 7,
        receivedAt: Int64 = 10,
        realm: Realm = Samples.production,
        state: ConsumptionState = .open,
        version: Int64 = 1,
        isFull: Bool = false
    ) throws -> ConsumptionRequest {
        ConsumptionRequest(
            key: ConsumptionKey(app: try Samples.app(), realm: realm, id: try #require(NotificationID(id))),
            transaction: try #require(TransactionID(number: transaction)),
            original: try #require(TransactionID(number: 3)),
            product: try #require(ProductID("coins.100")),
            form: isFull ? .first : .second,
            reason: isFull ? "LEGAL" : nil,
            askedAt: Timestamp(milliseconds: 1),
            receivedAt: Timestamp(milliseconds: receivedAt),
            deadline: Timestamp(milliseconds: 99),
            answerAt: Timestamp(milliseconds: 50),
            state: state,
            ending: isFull ? "4000047 InvalidTransactionTypeNotSupportedError" : nil,
            preference: isFull ? .grantFull : nil,
            delivery: isFull ? .undeliveredWrongItem : nil,
            isApproved: isFull,
            turn: isFull ? 3 : 1,
            answer: isFull ? answer : nil,
            settledAt: isFull ? Timestamp(milliseconds: 60) : nil,
            version: version
        )
    }

    private static func write(_ store: any Store, _ changes: [RowChange<ConsumptionRequest>]) async throws {
        var decision = Decision()
        decision.consumptions = changes
        let written = decision
        try await store.write { write throws(StoreFailure) in try write.apply(written, evidence: nil) }
    }

    @Test(arguments: StoreKind.allCases)
    func oneIsFoundAsItWasWritten(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let bare = try Self.request("a")
            let other = try Self.request("a", realm: Self.sandbox)
            try await Self.write(store, [.insert(bare), .insert(other)])
            let settled = try Self.request("a", state: .refused, version: 2, isFull: true)
            try await Self.write(store, [.update(settled)])
            let keys = [bare.key, other.key, try Self.request("b").key]
            let found = try await store.read { reader throws(StoreFailure) in try reader.consumptionRequests(keys) }
            #expect(Set(found) == [settled, other])
            // Whoever saw the first version, or none, is too late.
            for late in [RowChange.insert(bare), .update(settled)] {
                await #expect(throws: StoreFailure.conflict) { try await Self.write(store, [late]) }
            }
            let bad = ConsumptionRequest(
                key: try Self.request("c").key,
                transaction: bare.transaction,
                original: bare.original,
                product: bare.product,
                form: .second,
                reason: "a\0b",
                askedAt: Samples.now,
                receivedAt: Samples.now,
                deadline: Samples.now,
                answerAt: Samples.now
            )
            await #expect(throws: StoreFailure.unstorable) { try await Self.write(store, [.insert(bad)]) }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func theListingGoesFromTheNewestToTheOldest(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let rows = [
                try Self.request("a", receivedAt: 10), try Self.request("b", receivedAt: 20),
                try Self.request("c", receivedAt: 20, realm: Self.sandbox),
                try Self.request("d", transaction: 8, receivedAt: 5, state: .declined),
                try Self.request("e", receivedAt: 30, state: .sending),
            ]
            try await Self.write(store, rows.map { .insert($0) })
            let all: Set = [Samples.production, Self.sandbox]
            let seven = TransactionID(number: 7)
            for (filter, names) in [
                (ConsumptionFilter(realms: all), ["e", "c", "b", "a", "d"]),
                (ConsumptionFilter(realms: [Samples.production]), ["e", "b", "a", "d"]),
                (ConsumptionFilter(state: .declined, realms: all), ["d"]),
                (ConsumptionFilter(transaction: seven, realms: all), ["e", "c", "b", "a"]),
                (ConsumptionFilter(realms: []), []),
            ] {
                #expect(try await Self.names(filter, in: store) == names)
            }
            let key = try Samples.key(7)
            let open = try await store.read { reader throws(StoreFailure) in
                try reader.openConsumptionRequests(of: [key])
            }
            #expect(Set(open.map(\.key.id.text)) == ["a", "b", "e"])
        }
    }

    /// Page by page, two at a time.
    private static func names(_ filter: ConsumptionFilter, in store: any Store) async throws -> [String] {
        let app = try Samples.app()
        return try await store.read { reader throws(StoreFailure) in
            var names: [String] = []
            var cursor: ConsumptionCursor?
            repeat {
                let page = try reader.consumptionRequests(app: app, before: cursor, where: filter, limit: 2)
                names += page.requests.map(\.key.id.text)
                cursor = page.next
            } while cursor != nil
            return names
        }
    }

    private static func act(_ number: Int64, _ word: String, _ detail: String?, _ key: ConsentKey) -> AuditEntry {
        AuditEntry(
            app: key.app,
            subject: AuditSubject(key.subject),
            number: number,
            at: Timestamp(milliseconds: number),
            actor: "shop",
            act: word,
            detail: detail
        )
    }

    @Test(arguments: StoreKind.allCases)
    func consentsAndActsAreKept(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let app = try Samples.app()
            let ann = ConsentKey(app: app, subject: .customer(try Samples.customer("ann")))
            let account = ConsentKey(app: app, subject: .appTransaction("ann", Samples.production))
            let first = Consent(key: ann, isGiven: true, since: Timestamp(milliseconds: 1))
            let second = Consent(key: ann, isGiven: false, since: Timestamp(milliseconds: 2), version: 2)
            let acts = [Self.act(1, "given", nil, ann), Self.act(2, "withdrawn", "by letter", ann)]
            for (change, act) in [(RowChange.insert(first), acts[0]), (.update(second), acts[1])] {
                var decision = Decision()
                (decision.consents, decision.audit) = ([change], [act])
                let written = decision
                try await store.write { write throws(StoreFailure) in try write.apply(written, evidence: nil) }
            }
            let (consents, listed, none) = try await store.read { reader throws(StoreFailure) in
                (
                    try reader.consents([ann, account]), try reader.audit(app: app, of: AuditSubject(ann.subject)),
                    try reader.audit(app: app, of: AuditSubject(account.subject))
                )
            }
            #expect(consents == [second])
            #expect(listed == acts)
            #expect(none == [])
            var again = Decision()
            again.audit = [acts[1]]
            again.consents = [.update(Consent(key: ann, isGiven: true, since: Samples.now, version: 3))]
            let repeated = again
            await #expect(throws: StoreFailure.conflict) {
                try await store.write { write throws(StoreFailure) in try write.apply(repeated, evidence: nil) }
            }
        }
    }

    /// A parent has withdrawn the consent of an account, and another of the same number in each store asks for money back. Each
    /// row: from where it is told, and of purchases of where Apple is told nothing by then.
    @Test(arguments: StoreKind.allCases)
    func theSandboxWithdrawsNoConsentOfProduction(kind: StoreKind) async throws {
        let test = Realm(environment: .production, isTestSigned: true)
        let all = [Samples.production, test, Self.sandbox]
        for (told, withdrawn) in [(Samples.production, all), (test, [test]), (Self.sandbox, [Self.sandbox])] {
            try await kind.withStore { store in
                var transaction = try Samples.transaction(7)
                transaction.appTransaction = "70412345678901234"
                var recording = Recording(app: try Samples.app(), realm: told, transactions: [])
                recording.announcement = Announcement(
                    id: try #require(NotificationID("n-1")),
                    type: "RESCIND_CONSENT",
                    signedAt: Samples.now,
                    matter: .download(appTransaction: transaction.appTransaction)
                )
                var decision = decide(Situation(), recording, ownToken: { _ in nil }, at: Samples.now)
                decision.changes = try all.map { .insert(try Samples.recorded(transaction, realm: $0)) }
                let (written, evidence) = (decision, try Samples.evidence())
                try await store.write { write throws(StoreFailure) in try write.apply(written, evidence: evidence) }
                for realm in all {
                    let request = try Self.request("a", realm: realm)
                    let facts = try await store.read { reader throws(StoreFailure) in try reader.facts(of: request) }
                    #expect(facts.transaction?.realm == realm)
                    #expect(facts.accountConsent?.isGiven == (withdrawn.contains(realm) ? false : nil), "\(realm)")
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatAppleWasAskedIsKeptWithItsAnswer(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let app = try Samples.app()
            let rows = (1...3).map { number in
                SupportRequest(
                    app: app,
                    id: SupportRequestID(checked: "ask_\(number)"),
                    kind: "order.lookup",
                    askedBy: "desk",
                    askedAt: Timestamp(milliseconds: number == 3 ? 2 : Int64(number)),
                    question: Array("{\"n\":\(number)}".utf8)
                )
            }
            var done = rows[1]
            (done.state, done.answer, done.settledAt) = (.done, Array("{}".utf8), Timestamp(milliseconds: 9))
            done.version = 2
            let second = done
            try await store.write { write throws(StoreFailure) in
                for row in rows { try write.put(row) }
                try write.put(second)
            }
            for late in [rows[0], second] {
                await #expect(throws: StoreFailure.conflict) {
                    try await store.write { write throws(StoreFailure) in try write.put(late) }
                }
            }
            let (found, first, rest) = try await store.read { reader throws(StoreFailure) in
                let first = try reader.supportRequests(app: app, before: nil, limit: 2)
                return (
                    try reader.supportRequest(app: app, id: second.id), first,
                    try reader.supportRequests(app: app, before: first.next, limit: 2)
                )
            }
            #expect(found == second)
            #expect(first.requests == [rows[2], second])
            #expect(rest.requests == [rows[0]])
            #expect(rest.next == nil)
        }
    }

    /// What Apple has declined, by its kept notifications, is known when it asks about the same purchase. Each row: the type, the
    /// purchase, when it was signed, the side; and whether it is an answer to what was asked at 1,000.
    @Test(arguments: StoreKind.allCases)
    func whatAppleHasDeclinedIsKnownWhenItAsks(kind: StoreKind) async throws {
        let rows: [(type: String, transaction: Int64, signedAt: Int64, realm: Realm, isAnswer: Bool)] = [
            ("REFUND_DECLINED", 7, 2_000, Samples.production, true),
            ("REFUND_DECLINED", 7, 999, Samples.production, false),
            ("REFUND_DECLINED", 8, 2_000, Samples.production, false),
            ("REFUND_DECLINED", 7, 2_000, Self.sandbox, false),
            ("REFUND_REVERSED", 7, 2_000, Samples.production, false),
        ]
        for row in rows {
            try await kind.withStore { store in
                let heard = KeptNotification(
                    key: NotificationKey(
                        app: try Samples.app(),
                        realm: row.realm,
                        id: try #require(NotificationID("n-1"))
                    ),
                    version: 2,
                    type: row.type,
                    original: TransactionID(number: 3),
                    transaction: TransactionID(number: row.transaction),
                    arrival: .pushed,
                    signedAt: Timestamp(milliseconds: row.signedAt),
                    receivedAt: Timestamp(milliseconds: 3_000),
                    payload: [1]
                )
                let asked = try Self.asked(at: 1_000)
                let situation = try await store.write { write throws(StoreFailure) in
                    _ = try write.keepNotification(heard)
                    var situation = Situation()
                    try write.answer(Inquiry([asked], among: situation), in: &situation)
                    return situation
                }
                let decision = decide(situation, asked, ownToken: { _ in nil }, at: Timestamp(milliseconds: 4_000))
                let states = decision.consumptions.map(\.row.state)
                #expect(states == [row.isAnswer ? .overtaken : .open], "\(row)")
            }
        }
    }

    /// Apple asks about a purchase that nobody knew.
    private static func asked(at moment: Int64) throws -> Recording {
        var bought = try Samples.transaction(7)
        bought.originalID = TransactionID(number: 3)
        var recording = Recording(app: try Samples.app(), realm: Samples.production, transactions: [bought])
        recording.announcement = Announcement(
            id: try #require(NotificationID("n-2")),
            type: "CONSUMPTION_REQUEST",
            signedAt: Timestamp(milliseconds: moment),
            transaction: bought.id,
            original: bought.originalID,
            matter: .refundRequest(reason: nil, isAdvancedCommerce: false)
        )
        return recording
    }
}
