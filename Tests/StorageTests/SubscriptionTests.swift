import PurchaseModel
import Storage
import Testing

/// How subscriptions stand, in every store alike.
@Suite struct SubscriptionTests {
    private static func chain(_ number: Int64, app: String = "game", realm: Realm = Samples.production) throws
        -> ChainKey
    {
        let key = try Samples.key(number, app: app, realm: realm)
        return ChainKey(app: key.app, realm: key.realm, original: key.id)
    }

    /// With every field set, or with as few as can be.
    private static func row(
        _ chain: ChainKey,
        isFull: Bool = true,
        renewal: Renewal? = nil,
        nextLook: Int64? = nil,
        version: Int64 = 1
    ) throws -> RecordedSubscription {
        RecordedSubscription(
            chain: chain,
            current: isFull ? TransactionID(number: .max) : nil,
            renewal: isFull ? try renewal ?? Self.renewal(of: chain) : nil,
            product: try #require(ProductID("pro.month")),
            group: isFull ? "21" : nil,
            expiresAt: isFull ? Timestamp(milliseconds: .max) : nil,
            graceEndsAt: isFull ? Samples.now : nil,
            willAutoRenew: isFull ? false : nil,
            state: isFull ? .grace : .unknown,
            since: isFull ? Timestamp(milliseconds: -1) : nil,
            nextLook: nextLook.map(Timestamp.init(milliseconds:)),
            lookedAt: Samples.now,
            version: version,
            ends: isFull ? ends : PeriodEnds(),
            isShared: isFull
        )
    }

    /// One of each kind.
    private static let ends = PeriodEnds([
        PeriodEnds.End(at: Timestamp(milliseconds: -9_000), isFailed: true, graceEndsAt: nil, overAt: nil),
        PeriodEnds.End(at: Samples.now, isFailed: true, graceEndsAt: Samples.now, overAt: Timestamp(milliseconds: -1)),
        PeriodEnds.End(at: Timestamp(milliseconds: 1_001), isFailed: false, graceEndsAt: nil, overAt: Samples.now),
    ])

    private static func renewal(of chain: ChainKey) throws -> Renewal {
        var renewal = Renewal(
            originalID: chain.original,
            product: try #require(ProductID("pro.month")),
            signedAt: Timestamp(milliseconds: 7)
        )
        renewal.nextProduct = ProductID("pro.year")
        renewal.willAutoRenew = true
        renewal.environment = .production
        renewal.expirationIntent = 2
        renewal.isInBillingRetry = false
        renewal.graceEndsAt = Timestamp(milliseconds: 8)
        renewal.renewsAt = Timestamp(milliseconds: 9)
        renewal.recentStartAt = Timestamp(milliseconds: 10)
        renewal.nextPrice = Price(milliunits: 4_990, currency: "USD")
        renewal.priceIncreaseStatus = 0
        renewal.winBackOffers = ["back", "again"]
        renewal.nextBillingPlan = "MONTHLY"
        var commitment = NextCommitment()
        (commitment.willRenew, commitment.billingPlan) = (false, "BILLED_UPFRONT")
        (commitment.product, commitment.beginsAt) = (ProductID("pro.year"), Timestamp(milliseconds: 11))
        renewal.nextCommitment = commitment
        renewal.offer = Offer(kind: .promotional, identifier: "back", discount: "PAY_AS_YOU_GO", period: "P1M")
        renewal.accountToken = AccountToken(high: 0xFEDC_BA98_7654_3210, low: 0x0123_4567_89AB_CDEF)
        return renewal
    }

    /// Beside one that tells less there may be one that tells all, with every field or with few.
    @Test(arguments: StoreKind.allCases)
    func whatStandsBesideARenewalIsRead(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let chain = try Self.chain(1)
            let full = try Self.renewal(of: chain)
            var odd = Renewal(originalID: chain.original, product: full.product, signedAt: Timestamp(milliseconds: -1))
            odd.offer = Offer(kind: OfferKind(rawValue: -7), identifier: "+\u{301}\n ", discount: "", period: nil)
            (odd.renewsAt, odd.willAutoRenew) = (Timestamp(milliseconds: .min), false)
            var (rows, version): ([RecordedSubscription], Int64) = ([], 0)
            for beside in [nil, full, odd] {
                version += 1
                var renewal = odd
                (renewal.signedAt, renewal.telling) = (Samples.now, .less(than: beside))
                rows.append(try Self.row(chain, renewal: renewal, version: version))
            }
            rows.append(try Self.row(chain, version: version + 1))
            for row in rows {
                try await Self.write([row.version == 1 ? .insert(row) : .update(row)], to: store)
                let found = try await store.read { reader throws(StoreFailure) in try reader.subscriptions([chain]) }
                #expect(found == [row])
            }
            var unstorable = odd
            unstorable.offer?.identifier = "\0"
            odd.telling = .less(than: unstorable)
            let last = try Self.row(chain, renewal: odd, version: version + 2)
            await #expect(throws: StoreFailure.unstorable) { try await Self.write([.update(last)], to: store) }
        }
    }

    private static func write(
        _ changes: [RowChange<RecordedSubscription>],
        to store: any Store,
        evidence: EvidenceRow? = nil
    ) async throws {
        try await store.write { write throws(StoreFailure) in
            var decision = Decision()
            decision.subscriptions = changes
            try write.apply(decision, evidence: evidence)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func whatWasWrittenIsRead(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let full = try Self.row(Self.chain(1))
            let sandbox = Realm(environment: .sandbox, isTestSigned: true)
            let bare = try Self.row(Self.chain(1, realm: sandbox), isFull: false)
            let other = try Self.row(Self.chain(2, app: "other"), isFull: false)
            try await Self.write([.insert(full), .insert(bare), .insert(other)], to: store)
            let asked = [full.chain, bare.chain, other.chain, try Self.chain(3)]
            let found = try await store.read { reader throws(StoreFailure) in try reader.subscriptions(asked) }
            #expect(Set(found) == [full, bare, other])
            let changed = try Self.row(full.chain, isFull: false, version: 2)
            try await Self.write([.update(changed)], to: store)
            let again = try await store.read { reader throws(StoreFailure) in try reader.subscriptions([full.chain]) }
            #expect(again == [changed])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func ofTwoChangesToOneVersionOneSucceeds(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let first = try Self.row(Self.chain(1))
            let second = try Self.row(Self.chain(1), isFull: false, version: 2)
            await #expect(throws: StoreFailure.conflict) { try await Self.write([.update(second)], to: store) }
            try await Self.write([.insert(first)], to: store)
            await #expect(throws: StoreFailure.conflict) { try await Self.write([.insert(first)], to: store) }
            try await Self.write([.update(second)], to: store)
            await #expect(throws: StoreFailure.conflict) { try await Self.write([.update(second)], to: store) }
            let found = try await store.read { reader throws(StoreFailure) in try reader.subscriptions([first.chain]) }
            #expect(found == [second])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func theLongestDueComesFirst(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let looks: [Int64?] = [50, nil, 10, 51, 30, 10]
            let rows = try looks.enumerated().map { place, look in
                try Self.row(Self.chain(Int64(place)), isFull: place % 2 == 0, nextLook: look)
            }
            try await Self.write(rows.map { .insert($0) }, to: store)
            let due = try await store.read { reader throws(StoreFailure) in
                try reader.dueSubscriptions(at: Timestamp(milliseconds: 50), limit: 10)
            }
            #expect(due.map(\.chain.original.number) == [2, 5, 4, 0])
            let one = try await store.read { reader throws(StoreFailure) in
                try reader.dueSubscriptions(at: Timestamp(milliseconds: 50), limit: 1)
            }
            #expect(one.map(\.chain.original.number) == [2])
        }
    }

    /// Those of others that are due before it are passed over, however many there are.
    @Test(arguments: StoreKind.allCases)
    func whatIsDueOfOneAppIsFoundBehindOthers(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let others = try (Int64(1)...Int64(RecordedSubscription.listedMax + 1)).map { number in
                try Self.row(Self.chain(number, app: "other"), isFull: false, nextLook: 9)
            }
            let own = try [(1, 30), (2, 20), (3, 51)].map { number, look in
                try Self.row(Self.chain(number), isFull: true, nextLook: look)
            }
            try await Self.write((others + own).map { .insert($0) }, to: store)
            let (app, unknown) = (try Samples.app(), try Samples.app("unknown"))
            let found = try await store.read { reader throws(StoreFailure) in
                let now = Timestamp(milliseconds: 50)
                return [
                    try reader.dueSubscriptions(of: app, at: now, limit: 10),
                    try reader.dueSubscriptions(of: app, at: now, limit: 1),
                    try reader.dueSubscriptions(of: unknown, at: now, limit: 10),
                ]
            }
            #expect(found == [[own[1], own[0]], [own[1]], []])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func allAreWalkedInPages(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let rows = try (Int64(0)..<7).map { try Self.row(Self.chain($0), isFull: $0 % 2 == 0) }
            try await Self.write(rows.reversed().map { .insert($0) }, to: store)
            try await Self.write([.insert(Self.row(Self.chain(1, app: "other")))], to: store)
            let app = try Samples.app()
            let found = try await store.read { reader throws(StoreFailure) in
                var (found, place): ([RecordedSubscription], WalkPlace?) = ([], nil)
                repeat {
                    let page = try reader.walkSubscriptions(app: app, after: place, limit: 3)
                    found += page.rows
                    place = page.next
                } while place != nil
                return found
            }
            #expect(found == rows)
        }
    }

    /// What only a renewal info has told is proved as well.
    @Test(arguments: StoreKind.allCases)
    func theProofOfAChangeIsKept(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let row = try Self.row(Self.chain(1))
            try await Self.write([.insert(row)], to: store, evidence: Samples.evidence())
            let figures = try await store.read { reader throws(StoreFailure) in try reader.figures() }
            #expect(figures.evidence == 1)
            var odd = try Self.row(Self.chain(2))
            odd = RecordedSubscription(
                chain: odd.chain,
                current: nil,
                renewal: nil,
                product: odd.product,
                group: "\0",
                expiresAt: nil,
                graceEndsAt: nil,
                willAutoRenew: nil,
                state: .unknown,
                since: nil,
                nextLook: nil,
                lookedAt: Samples.now,
                version: 1
            )
            await #expect(throws: StoreFailure.unstorable) { try await Self.write([.insert(odd)], to: store) }
        }
    }
}
