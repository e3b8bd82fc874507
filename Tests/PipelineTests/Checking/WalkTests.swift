import Pipeline
import PurchaseModel
import Storage
import TestSupport
import Testing

/// A walk sees every row once, in the order of the keys, whatever store it goes along: the memory store says which.
@Suite struct WalkTests {
    @Test(arguments: UInt64(0)..<6)
    func aFileIsWalkedLikeMemory(seed: UInt64) async throws {
        try await Tampering.withFolder { folder in
            let store = try SQLiteStore.open(folder: folder + "/data")
            try await Self.compare(store, seed)
            await store.close()
        }
    }

    @Test(.enabled(if: TestDatabase.url != nil, "\(TestDatabase.absence)"), arguments: UInt64(0)..<6)
    func aDatabaseIsWalkedLikeMemory(seed: UInt64) async throws {
        try await Tampering.withSchema { settings in
            let store = try await PostgreSQLStore.open(settings)
            try await Self.compare(store, seed)
            await store.close()
        }
    }

    private static func compare(_ store: any Store, _ seed: UInt64) async throws {
        var shops = [try CheckedShop(MemoryStore()), try CheckedShop(store)]
        for index in shops.indices {
            // The same on both.
            var random = SeededRandom(seed: seed)
            try await shops[index].addEndpoint("first")
            try await shops[index].addEndpoint("second")
            for _ in 0..<40 { try await shops[index].act(&random) }
            for text in ["one", "two", "three"] { try await shops[index].keepPending(text) }
            for number in Int64(1)...3 {
                let bought = try CheckedShop.sold(20 + number)
                try await shops[index].wantBack(bought, "11111111-2222-4333-8444-55555555555\(number)")
                try await Self.ask(shops[index], "ask_\(number)")
            }
        }
        for limit in [1, 3, 1_000] {
            var seen: [[[String]]] = []
            for shop in shops { seen.append(try await walked(shop, limit)) }
            #expect(seen[0] == seen[1])
            #expect(seen[0].allSatisfy { !$0.isEmpty })
        }
    }

    private static func ask(_ shop: CheckedShop, _ id: String) async throws {
        let request = SupportRequest(
            app: shop.app.id,
            id: try #require(SupportRequestID(id)),
            kind: "order.look_up",
            askedBy: "backend",
            askedAt: shop.now,
            question: Array(#"{"order_id":"MK1"}"#.utf8)
        )
        try await shop.store.write { write throws(StoreFailure) in try write.put(request) }
    }

    /// Every table's pages, as text.
    private static func walked(_ shop: CheckedShop, _ limit: Int) async throws -> [[String]] {
        let (app, gems) = (shop.app.id, try shop.wallet(of: "ann"))
        return try await shop.store.read { reader throws(StoreFailure) in
            var tables: [[String]] = []
            func walk<Row>(_ fetch: (WalkPlace?) throws(StoreFailure) -> WalkPage<Row>) throws(StoreFailure) {
                var (pages, place): ([String], WalkPlace?) = ([], nil)
                repeat {
                    let page = try fetch(place)
                    pages.append("\(page.rows) \(page.unreadable)")
                    place = page.next
                } while place != nil
                tables.append(pages)
            }
            try walk { place throws(StoreFailure) in
                try reader.walkTransactions(app: app, after: place, limit: limit)
            }
            try walk { place throws(StoreFailure) in
                try reader.walkFulfilments(app: app, after: place, limit: limit)
            }
            try walk { place throws(StoreFailure) in try reader.walkOrders(app: app, after: place, limit: limit) }
            try walk { place throws(StoreFailure) in try reader.walkWallets(app: app, after: place, limit: limit) }
            try walk { place throws(StoreFailure) in try reader.walkPostings(app: app, after: place, limit: limit) }
            try walk { place throws(StoreFailure) in try reader.walkEvents(app: app, after: place, limit: limit) }
            try walk { place throws(StoreFailure) in try reader.walkStreams(app: app, after: place, limit: limit) }
            try walk { place throws(StoreFailure) in try reader.walkSubmissions(app: app, after: place, limit: limit) }
            try walk { place throws(StoreFailure) in
                try reader.walkConsumptionRequests(app: app, after: place, limit: limit)
            }
            try walk { place throws(StoreFailure) in
                try reader.walkSupportRequests(app: app, after: place, limit: limit)
            }
            try walk { place throws(StoreFailure) in try reader.walkEvidence(after: place, limit: limit) }
            for endpoint in try reader.walkEndpoints(app: app) {
                tables.append(["\(endpoint.id) \(endpoint.version) \(endpoint.filter.realms.count)"])
                try walk { place throws(StoreFailure) in
                    try reader.walkDeliveries(endpoint: endpoint.id, after: place, limit: limit)
                }
            }
            for number in Int64(1)...12 {
                guard let id = TransactionID(number: number) else { continue }
                tables.append(["\(try reader.postings(gems, of: id))"])
            }
            tables.append(["\(try reader.knownApps()) \(try reader.lastEvent(app: app))"])
            return tables
        }
    }
}
