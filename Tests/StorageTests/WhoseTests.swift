import PurchaseModel
import Storage
import TestSupport
import Testing

/// Whose a chain is, by whom, and by what it is found: what a later proof or a person changes of rows that are there.
@Suite struct WhoseTests {
    @Test(arguments: StoreKind.allCases, [false, true])
    func whetherItIsSettledIsKept(kind: StoreKind, isSettled: Bool) async throws {
        try await kind.withStore { store in
            var owner = Owner(
                chain: try Samples.key(1).chainOfItsOwn,
                customer: try Samples.customer("ann"),
                since: Samples.now,
                isSettled: !isSettled
            )
            for version in Int64(1)...2 {
                owner = Owner(
                    chain: owner.chain,
                    customer: owner.customer,
                    since: owner.since,
                    isSettled: version == 1 ? !isSettled : isSettled,
                    version: version
                )
                var decision = Decision()
                decision.owners = [version == 1 ? .insert(owner) : .update(owner)]
                try await store.write { [decision] write throws(StoreFailure) in
                    try write.apply(decision, evidence: nil)
                }
                let found = try await store.read { [owner] reader throws(StoreFailure) in
                    try reader.owners([owner.chain])
                }
                #expect(found == [owner])
            }
        }
    }

    /// What was moved to somebody, or is shared with him, he has not bought.
    @Test(arguments: StoreKind.allCases)
    func whoHasBoughtHadItFirst(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let app = try Samples.app()
            let (ann, bob, cid) = (
                try Samples.customer("ann"), try Samples.customer("bob"), try Samples.customer("cid")
            )
            let sandbox = Realm(environment: .sandbox, isTestSigned: false)
            var decision = Decision()
            decision.owners = [
                .insert(Owner(chain: try Samples.key(1).chainOfItsOwn, customer: ann, since: Samples.now)),
                .insert(
                    Owner(
                        chain: try Samples.key(2).chainOfItsOwn,
                        customer: bob,
                        sharers: [cid],
                        since: Samples.now,
                        previous: ann
                    )
                ),
            ]
            try await store.write { [decision] write throws(StoreFailure) in
                try write.apply(decision, evidence: nil)
            }
            let table = [
                (ann, app, Samples.production, true), (ann, app, sandbox, false),
                (ann, try Samples.app("other"), Samples.production, false), (bob, app, Samples.production, false),
                (cid, app, Samples.production, false),
            ]
            for (customer, app, realm, expected) in table {
                let found = try await store.read { reader throws(StoreFailure) in
                    try reader.hasBought(customer, app: app, realm: realm)
                }
                #expect(found == expected, "\(customer) \(app) \(realm)")
            }
        }
    }

    /// The first copy says nothing of it: what the second one names is what it is found by.
    @Test(arguments: StoreKind.allCases)
    func aLaterCopysTokenIsWhatItIsFoundBy(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let token = AccountToken(high: 1, low: 2)
            for (after, token) in [(Int64(0), nil), (60, token)] {
                var sold = try Samples.transaction(1, signedAt: Samples.now.advanced(by: .seconds(after)))
                sold.accountToken = token
                let (recording, evidence) = (try Self.recording(sold), try Samples.evidence())
                try await store.write { write throws(StoreFailure) in
                    let situation = try write.situation(around: [recording])
                    try write.apply(decide(situation, recording, at: Samples.now), evidence: evidence)
                }
            }
            let sold = try Samples.transaction(1)
            let wish = WishKey(app: try Samples.app(), customer: try Samples.customer("ann"), product: sold.product)
            let found = try await store.read { reader throws(StoreFailure) in
                try reader.waitingFulfilments(for: wish, tokens: [token], limit: 10)
            }
            #expect(found.map(\.accountToken) == [token])
        }
    }

    /// Whoever comes to have what somebody else waited for is told what it is.
    @Test(arguments: StoreKind.allCases)
    func whatGoesWithAChainIsToldWhole(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let bought = try Samples.transaction(1)
            var unknown = try Samples.transaction(2)
            unknown.originalID = bought.id
            unknown.product = try #require(ProductID("sword"))
            let lamp = ProductTerms(
                product: bought.product,
                kind: .nonConsumable,
                goods: [.entitlement(try #require(EntitlementID("light")))]
            )
            let terms = AppTerms(products: [bought.product: lamp], binding: .transfer)
            var told: [LedgerEvent] = []
            for (transaction, customer) in [(bought, "ann"), (unknown, "ann"), (bought, "bob")] {
                var recording = try Self.recording(transaction)
                (recording.customer, recording.terms) = (try Samples.customer(customer), terms)
                told = try await Purchases.record([recording], try Samples.evidence(), in: store).flatMap(\.events)
            }
            let waiting = told.filter { $0.type == .purchaseWaiting }
            #expect(waiting.map(\.stream.customer?.text) == ["bob"])
            guard case .fulfilment(_, let recorded) = waiting.first?.subject else {
                Issue.record("\(told)")
                return
            }
            #expect(recorded?.transaction == unknown)
        }
    }

    /// A transaction and what Apple says of its renewal are told together, by two proofs: each stands with what it proves.
    @Test(arguments: StoreKind.allCases, [false, true])
    func ofTwoProofsEachIsKept(kind: StoreKind, isStorable: Bool) async throws {
        try await kind.withStore { store in
            var sold = try Samples.transaction(1)
            (sold.kind, sold.expiresAt) = (.autoRenewable, Samples.now.advanced(by: .seconds(86_400)))
            var recording = try Self.recording(sold)
            recording.renewals = [Renewal(originalID: sold.id, product: sold.product, signedAt: Samples.now)]
            let evidence = try Samples.evidence([1, 2, 3])
            var renewal = try Samples.evidence([9, 8, 7])
            if !isStorable { renewal.verdict = "" }
            let write = { [recording, renewal] in
                try await store.write { write throws(StoreFailure) in
                    let situation = try write.situation(around: [recording])
                    let decision = decide(situation, recording, at: Samples.now)
                    try write.apply(decision, evidence: evidence, andOfRenewal: renewal)
                }
            }
            if isStorable {
                try await write()
            } else {
                await #expect(throws: StoreFailure.unstorable) { try await write() }
            }
            let key = recording.keys[0]
            let (count, proof, standing) = try await store.read { [recording, sold] reader throws(StoreFailure) in
                (
                    try reader.figures().evidence, try reader.evidence(of: key)?.proof,
                    try reader.subscriptions([recording.chain(of: sold)]).count
                )
            }
            #expect(count == (isStorable ? 2 : 0) && standing == (isStorable ? 1 : 0))
            #expect(proof == (isStorable ? [1, 2, 3] : nil))
            // Once more, it tells nothing: nothing is kept.
            if isStorable { try await write() }
            let again = try await store.read { reader throws(StoreFailure) in try reader.figures().evidence }
            #expect(again == count)
        }
    }

    private static func recording(_ sold: Transaction) throws -> Recording {
        Recording(app: try Samples.app(), realm: Samples.production, transactions: [sold])
    }
}

extension TransactionKey {
    fileprivate var chainOfItsOwn: ChainKey { ChainKey(app: app, realm: realm, original: id) }
}
