import PurchaseModel
import Storage
import Testing

/// A customer's transactions, page by page.
@Suite struct ListingTests {
    @Test(arguments: StoreKind.allCases, ListingOrder.allCases)
    func pagesHoldEachTransactionOnce(kind: StoreKind, order: ListingOrder) async throws {
        try await kind.withStore { store in
            let ann = try Samples.customer("ann")
            // Numbers fall while the store grows: the order is that of recording.
            let rows = try (1...10).map { number in
                try Samples.recorded(Samples.transaction(100 - Int64(number)), customer: number == 4 ? "bob" : "ann")
            }
            let elsewhere = try Samples.recorded(Samples.transaction(1), app: "other", customer: "ann")
            try await Self.insert(rows + [elsewhere], into: store)
            let mine = rows.filter { $0.customer == ann }
            let expected = order == .oldestFirst ? mine : mine.reversed()
            for limit in [1, 2, 3, 8, 9, 10, 500] {
                let pages = try await Self.pages(of: "ann", order, limit: limit, in: store)
                #expect(pages.flatMap(\.transactions) == Array(expected))
                #expect(pages.dropLast().allSatisfy { $0.transactions.count == limit })
                #expect(pages.last?.transactions.isEmpty == false)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aCursorStaysWhereItIsWhenTransactionsAreAdded(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let app = try Samples.app()
            let ann = try Samples.customer("ann")
            let rows = try (1...6).map { try Samples.recorded(Samples.transaction($0), customer: "ann") }
            try await Self.insert(Array(rows.prefix(4)), into: store)
            let first = try await store.read { reader throws(StoreFailure) in
                try reader.transactions(app: app, customer: ann, order: .newestFirst, after: nil, limit: 2)
            }
            try await Self.insert(Array(rows.suffix(2)), into: store)
            let second = try await store.read { reader throws(StoreFailure) in
                try reader.transactions(app: app, customer: ann, order: .newestFirst, after: first.next, limit: 2)
            }
            #expect(first.transactions + second.transactions == rows.prefix(4).reversed())
            #expect(second.next == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aTransactionAppearsWhereItWasRecordedOnceItHasACustomer(kind: StoreKind) async throws {
        try await kind.withStore { store in
            var unclaimed = try Samples.recorded(Samples.transaction(1))
            let claimed = try Samples.recorded(Samples.transaction(2), customer: "ann")
            try await Self.insert([unclaimed, claimed], into: store)
            unclaimed.customer = try Samples.customer("ann")
            try await Self.insert([unclaimed], into: store)
            let pages = try await Self.pages(of: "ann", .oldestFirst, limit: 1, in: store)
            #expect(pages.map(\.transactions) == [[unclaimed], [claimed]])
        }
    }

    /// Apple may tell of renewals before anybody shows one of them; and what was bought may come to be somebody else's.
    @Test(arguments: StoreKind.allCases)
    func whoeverHasAChainHasAllOfIt(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let rows = try (Int64(1)...3).map { number in
                var renewal = try Samples.transaction(number)
                renewal.originalID = TransactionID(number: 1)
                return try Samples.recorded(renewal, customer: number == 3 ? "ann" : nil)
            }
            let others = try Samples.recorded(Samples.transaction(9), customer: "ann")
            try await Self.insert(rows + [others], into: store)
            func expectPages(of customer: String, _ numbers: [Int64]) async throws {
                for (order, limit) in [(ListingOrder.oldestFirst, 1), (.oldestFirst, 9), (.newestFirst, 2)] {
                    let pages = try await Self.pages(of: customer, order, limit: limit, in: store)
                    let listed = pages.flatMap(\.transactions).map(\.id.number)
                    #expect(listed == (order == .oldestFirst ? numbers : numbers.reversed()), "\(customer)")
                }
            }
            try await expectPages(of: "ann", [1, 2, 3, 9])
            try await expectPages(of: "bob", [])
            let moved = try await store.read { reader throws(StoreFailure) in try reader.owners([rows[0].chain]) }
            let (bob, cid) = (try Samples.customer("bob"), try Samples.customer("cid"))
            let owner = Owner(
                chain: rows[0].chain,
                customer: bob,
                sharers: [cid],
                since: Samples.now,
                version: try #require(moved.first).version + 1
            )
            var decision = Decision()
            decision.owners = [.update(owner)]
            try await store.write { [decision] write throws(StoreFailure) in
                try write.apply(decision, evidence: nil)
            }
            try await expectPages(of: "ann", [9])
            try await expectPages(of: "bob", [1, 2, 3])
            try await expectPages(of: "cid", [1, 2, 3])
        }
    }

    /// What is on another side of the wall fills no page and is no place.
    @Test(arguments: StoreKind.allCases, ListingOrder.allCases)
    func aPageIsFilledWithWhatIsListed(kind: StoreKind, order: ListingOrder) async throws {
        try await kind.withStore { store in
            let sandbox = Realm(environment: .sandbox, isTestSigned: false)
            let ann = try Samples.customer("ann")
            let app = try Samples.app()
            let recordings = try (Int64(1)...7).map { number in
                Recording(
                    app: app,
                    realm: number % 3 == 1 ? Samples.production : sandbox,
                    transactions: [try Samples.transaction(number)],
                    customer: ann
                )
            }
            try await Purchases.record(recordings, try Samples.evidence(), in: store)
            let table: [(Set<Realm>, [Int64])] = [
                ([Samples.production], [1, 4, 7]), ([sandbox], [2, 3, 5, 6]), ([], []),
                ([Samples.production, sandbox], [1, 2, 3, 4, 5, 6, 7]),
            ]
            for (realms, numbers) in table {
                let expected = order == .oldestFirst ? numbers : numbers.reversed()
                for limit in [1, 2, 9] {
                    let pages = try await Self.pages(of: "ann", order, limit: limit, on: realms, in: store)
                    #expect(pages.flatMap(\.transactions).map(\.id.number) == expected, "\(realms)")
                    #expect(pages.dropLast().allSatisfy { $0.transactions.count == limit })
                    #expect(pages.count == max(1, (numbers.count + limit - 1) / limit))
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aLimitIsBroughtIntoItsRange(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let app = try Samples.app()
            let ann = try Samples.customer("ann")
            try await Self.insert(
                try (1...501).map { try Samples.recorded(Samples.transaction($0), customer: "ann") },
                into: store
            )
            for (limit, count) in [(0, 1), (-1, 1), (.min, 1), (.max, 500), (501, 500)] {
                let page = try await store.read { reader throws(StoreFailure) in
                    try reader.transactions(app: app, customer: ann, order: .oldestFirst, after: nil, limit: limit)
                }
                #expect(page.transactions.count == count)
                let last = try Self.cursor(Int64(count))
                #expect(page.next == last)
            }
        }
    }

    /// Nothing comes after a place that the app's ledger has not; another customer's is one all the same.
    @Test(arguments: StoreKind.allCases)
    func aPlaceIsATransactionOfTheApp(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let app = try Samples.app()
            let ann = try Samples.customer("ann")
            try await Self.insert(
                [
                    try Samples.recorded(Samples.transaction(1), customer: "ann"),
                    try Samples.recorded(Samples.transaction(2), customer: "bob"),
                    try Samples.recorded(Samples.transaction(4), app: "other", customer: "ann"),
                    try Samples.recorded(Samples.transaction(3), customer: "ann"),
                ],
                into: store
            )
            let table: [(TransactionCursor, [Int])] = [
                (try Self.cursor(1), [0, 1]), (try Self.cursor(2), [1, 1]), (try Self.cursor(3), [1, 0]),
                (try Self.cursor(4), [0, 0]), (try Self.cursor(9), [0, 0]),
                (try Self.cursor(1, Realm(environment: .production, isTestSigned: true)), [0, 0]),
                (
                    try Self.cursor(1, Realm(environment: StoreEnvironment(rawValue: "moon"), isTestSigned: false)),
                    [0, 0]
                ),
            ]
            for (cursor, expected) in table {
                let counts = try await store.read { reader throws(StoreFailure) in
                    var counts: [Int] = []
                    for order in [ListingOrder.newestFirst, .oldestFirst] {
                        let page = try reader.transactions(
                            app: app,
                            customer: ann,
                            order: order,
                            after: cursor,
                            limit: 9
                        )
                        counts.append(page.transactions.count)
                    }
                    return counts
                }
                #expect(counts == expected, "\(cursor)")
            }
        }
    }

    private static func cursor(
        _ number: Int64,
        _ realm: Realm = Realm(environment: .production, isTestSigned: false)
    ) throws -> TransactionCursor {
        TransactionCursor(realm: realm, id: try #require(TransactionID(number: number)))
    }

    /// Records them one after the other, as if their customers had presented them.
    private static func insert(_ rows: [RecordedTransaction], into store: any Store) async throws {
        let recordings = rows.map { row in
            Recording(app: row.app, realm: row.realm, transactions: [row.transaction], customer: row.customer)
        }
        try await Purchases.record(recordings, try Samples.evidence(), in: store)
    }

    private static func pages(
        of customer: String,
        _ order: ListingOrder,
        limit: Int,
        on realms: Set<Realm>? = nil,
        in store: any Store
    ) async throws -> [TransactionPage] {
        let app = try Samples.app()
        let customer = try Samples.customer(customer)
        var pages: [TransactionPage] = []
        repeat {
            let cursor = pages.last?.next
            pages.append(
                try await store.read { reader throws(StoreFailure) in
                    try reader.transactions(app: app, customer: customer, order: order, after: cursor, limit: limit) {
                        realms?.contains($0) ?? true
                    }
                }
            )
        } while pages.last?.next != nil && pages.count < 1_000
        return pages
    }
}
