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
            let update = Decision(changes: [.update(unclaimed)])
            let evidence = try Samples.evidence()
            try await store.write { transaction throws(StoreFailure) in
                try transaction.apply(update, evidence: evidence)
            }
            let pages = try await Self.pages(of: "ann", .oldestFirst, limit: 1, in: store)
            #expect(pages.map(\.transactions) == [[unclaimed], [claimed]])
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

    private static func insert(_ rows: [RecordedTransaction], into store: any Store) async throws {
        let decision = Decision(changes: rows.map(LedgerChange.insert))
        let evidence = try Samples.evidence()
        try await store.write { transaction throws(StoreFailure) in
            try transaction.apply(decision, evidence: evidence)
        }
    }

    private static func pages(
        of customer: String,
        _ order: ListingOrder,
        limit: Int,
        in store: any Store
    ) async throws -> [TransactionPage] {
        let app = try Samples.app()
        let customer = try Samples.customer(customer)
        var pages: [TransactionPage] = []
        repeat {
            let cursor = pages.last?.next
            pages.append(
                try await store.read { reader throws(StoreFailure) in
                    try reader.transactions(app: app, customer: customer, order: order, after: cursor, limit: limit)
                }
            )
        } while pages.last?.next != nil && pages.count < 1_000
        return pages
    }
}
