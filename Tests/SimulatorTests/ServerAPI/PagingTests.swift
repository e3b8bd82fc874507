import Encoding
import HTTP
import PurchaseModel
import Simulator
import TestSupport
import Testing

/// Histories by pages, also while they change.
@Suite struct ServerAPIPagingTests {
    private func pages(
        _ shop: Shop,
        _ path: String,
        _ query: String = "",
        between: (Int) throws -> Void = { _ in }
    ) async throws -> (ids: [[String]], revision: String) {
        var ids: [[String]] = []
        var revision: String?
        var hasMore = true
        while hasMore {
            let asked = query + (revision.map { (query.isEmpty ? "" : "&") + "revision=\($0)" } ?? "")
            let page = try await shop.object(.get, path, query: asked)
            ids.append(try page.payloads("signedTransactions").compactMap { $0["transactionId"]?.string })
            revision = page["revision"]?.string
            hasMore = try page.flag("hasMore")
            #expect(ids.count < 100)
            try between(ids.count)
        }
        return (ids, try #require(revision))
    }

    @Test(arguments: [(count: 1, sizes: [1]), (20, [20]), (21, [20, 1]), (45, [20, 20, 5])])
    func aPageHasTwenty(count: Int, sizes: [Int]) async throws {
        let shop = try Shop()
        var bought: [String] = []
        for _ in 0..<count { bought.append(try shop.buy("coins").description) }
        let path = "/inApps/v2/history/\(bought[0])"
        let rising = try await pages(shop, path)
        #expect(rising.ids.map(\.count) == sizes)
        #expect(rising.ids.flatMap(\.self) == bought)
        let falling = try await pages(shop, path, "sort=DESCENDING")
        #expect(falling.ids.flatMap(\.self) == bought.reversed())
    }

    /// Whoever reads to the end has seen each record in its last state, however the store changed meanwhile; time
    /// stands still, so that no two changes can be told apart by their moment.
    @Test(arguments: UInt64(0)..<20) func nothingIsLostUnderChange(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let shop = try Shop(seed: seed)
        var bought: [TransactionID] = []
        for _ in 0..<Int.random(in: 15...50, using: &random) { bought.append(try shop.buy("coins")) }
        var refunded: Set<TransactionID> = []
        var seen: [String: Bool] = [:]
        var revision = "0"
        var hasMore = true
        var rounds = 0
        while hasMore {
            let page = try await shop.object(.get, "/inApps/v2/history/\(bought[0])", query: "revision=\(revision)")
            for payload in try page.payloads("signedTransactions") {
                seen[try #require(payload["transactionId"]?.string)] = payload["revocationDate"] != nil
            }
            revision = try #require(page["revision"]?.string)
            hasMore = try page.flag("hasMore")
            rounds += 1
            guard rounds < 6 else { continue }
            let id = bought[Int.random(in: 0..<bought.count, using: &random)]
            if refunded.insert(id).inserted { try shop.refund(id) }
            bought.append(try shop.buy("coins"))
            // The last page may have been read before these.
            if !hasMore { hasMore = true }
        }
        #expect(seen.count == bought.count)
        #expect(Set(seen.filter(\.value).keys) == Set(refunded.map(\.description)))
    }

    @Test func theLastRevisionAsksForNews() async throws {
        let shop = try Shop()
        let first = try shop.buy("coins")
        let second = try shop.buy("coins")
        let path = "/inApps/v2/history/\(first)"
        let revision = try await pages(shop, path).revision
        let quiet = try await shop.object(.get, path, query: "revision=\(revision)")
        #expect(quiet["signedTransactions"]?.array?.isEmpty == true)
        #expect(quiet["revision"]?.string == revision)
        try shop.refund(first)
        // By any id of the same customer.
        let news = try await shop.object(.get, "/inApps/v2/history/\(second)", query: "revision=\(revision)")
        #expect(try news.payloads("signedTransactions").map { $0["transactionId"]?.string } == [first.description])
    }

    @Test func aRevisionIsGoodForItsOwnListOnly() async throws {
        let shop = try Shop()
        let id = try shop.buy("coins")
        let other = try shop.buy("coins", by: "member")
        let revision = try await pages(shop, "/inApps/v2/history/\(id)").revision
        let changed = String(decoding: revision.utf8.enumerated().map { $0 == 9 ? $1 ^ 1 : $1 }, as: UTF8.self)
        for (path, query) in [
            ("/inApps/v2/history/\(other)", "revision=\(revision)"),
            ("/inApps/v2/history/\(id)", "revision=\(revision)&revoked=true"),
            ("/inApps/v2/history/\(id)", "revision=\(revision)&sort=DESCENDING"),
            ("/inApps/v2/refund/lookup/\(id)", "revision=\(revision)"),
            ("/inApps/v2/history/\(id)", "revision=\(changed)"),
        ] {
            #expect(try await shop.code(.get, path, query: query) == 4_000_005, "\(path) \(query)")
        }
        #expect(
            try await shop.code(.get, "/inApps/v2/history/\(id)", query: "sort=ASCENDING&revision=\(revision)") == nil
        )
    }

    @Test(arguments: [
        ("productType=AUTO_RENEWABLE", 2), ("productType=CONSUMABLE&productType=NON_CONSUMABLE", 2),
        ("productType=NON_RENEWABLE", 1), ("productId=coins", 1), ("productId=coins&productId=door", 2),
        ("productId=coins&productType=NON_CONSUMABLE", 0), ("subscriptionGroupIdentifier=21456789", 2),
        ("inAppOwnershipType=PURCHASED", 5), ("inAppOwnershipType=FAMILY_SHARED", 0), ("revoked=true", 1),
        ("revoked=false", 4), ("revoked=False", 4), ("revoked=TRUE", 1), ("excludeRevoked=true", 4),
        ("excludeRevoked=false", 5),
        // Each purchase is a millisecond after the one before it.
        ("startDate=1749988800000", 5), ("startDate=1749988800001", 4), ("endDate=1749988800000", 0),
        ("endDate=1749988800001", 1), ("endDate=9999999999999", 5),
    ])
    func aFilterChooses(query: String, count: Int) async throws {
        let shop = try Shop()
        let id = try shop.buy("month")
        try shop.refund(try shop.buy("coins"))
        for product in ["door", "season"] { try shop.buy(product) }
        shop.pass(.seconds(301))
        let page = try await shop.object(.get, "/inApps/v2/history/\(id)", query: query)
        #expect(page["signedTransactions"]?.array?.count == count)
    }

    @Test func refundsFollowTheirMoments() async throws {
        let shop = try Shop()
        var bought: [TransactionID] = []
        for _ in 0..<55 { bought.append(try shop.buy("coins")) }
        try shop.buy("coins")
        for id in bought.reversed() {
            try shop.refund(id)
            shop.pass(.milliseconds(1))
        }
        let wanted = bought.reversed().map(\.description)
        let found = try await pages(shop, "/inApps/v2/refund/lookup/\(bought[0])")
        #expect(found.ids.map(\.count) == [20, 20, 15])
        #expect(found.ids.flatMap(\.self) == wanted)
        let first = try await shop.object(.get, "/inApps/v1/refund/lookup/\(bought[0])")
        #expect(first.names == ["signedTransactions"])
        let ids = try first.payloads("signedTransactions").compactMap { $0["transactionId"]?.string }
        #expect(ids == wanted.suffix(50))
    }

    @Test func aMembersLossIsNoRefund() async throws {
        let shop = try Shop()
        for name in ["anna", "member"] { _ = try shop.simulator.perform(.setFamily(customer: name, family: "f")) }
        let door = try shop.buy("door")
        let copy = try #require(shop.simulator.read { $0.transactions.values.first { $0.purchasedBy == door }?.id })
        try shop.refund(door)
        #expect(try await pages(shop, "/inApps/v2/refund/lookup/\(copy)").ids == [[]])
        let history = try await shop.object(.get, "/inApps/v2/history/\(copy)")
        let payload = try history.payloads("signedTransactions")[0]
        #expect(payload["revocationType"]?.string == "FAMILY_REVOKE")
        #expect(payload["revocationPercentage"] == nil)
        #expect(payload["inAppOwnershipType"]?.string == "FAMILY_SHARED")
    }
}
