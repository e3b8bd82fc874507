import API
import Crypto
import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Simulator
import Storage
import Synchronization
import TestSupport
import Testing

/// Answers about entitlements that are given again without a look into the ledger: never older than it.
@Suite struct EntitlementAnswerTests {
    private static let customers = ["ann", "bob", "cyn"]
    private static let steps = 60
    private static let pass = "com.example.demo.pass"

    /// A purchase gives thirty days; customers share nothing and take nothing from one another by showing a proof.
    private static func terms() throws -> AppTerms {
        let product = try #require(ProductID(pass))
        let goods = [Goods.entitlement(try #require(EntitlementID("premium")))]
        return AppTerms(
            products: [
                product: ProductTerms(product: product, kind: .nonRenewing, goods: goods, period: .seconds(30 * 86_400))
            ],
            sandbox: .everybody(until: Timestamp(milliseconds: .max))
        )
    }

    private static func proof(
        _ number: Int,
        boughtAt: Timestamp = TestHouse.now,
        isRevoked: Bool = false,
        signedAt: Timestamp = TestHouse.now
    ) throws -> String {
        let revokedAt = isRevoked ? signedAt : nil
        let id = Int64(number)
        var transaction = try Sample.transaction(id, product: pass, revokedAt: revokedAt, signedAt: signedAt)
        transaction.kind = .nonRenewing
        (transaction.purchasedAt, transaction.originallyPurchasedAt) = (boughtAt, boughtAt)
        return try PurchaseSigner(TestAuthority.shared, app: Sample.app()).transaction(transaction)
    }

    private static func ask(_ house: TestHouse, _ customer: String) async -> HTTPResponse {
        var answer = await house.get("/v1/customers/\(customer)/entitlements")
        // Different for each request.
        answer.fields["X-Request-Id"] = nil
        return answer
    }

    private static func text(_ answer: HTTPResponse) -> String { String(decoding: answer.body, as: UTF8.self) }

    /// One that sees everything, and one for purchases in production.
    private static func keys() throws -> KeyRing {
        let app = try #require(AppID("demo"))
        let all = APIKey(KeyRing.Holder(name: "shop", app: app))
        let production = APIKey(KeyRing.Holder(name: "production", app: app), environments: [.production])
        return KeyRing([
            Digest.sha256(Array(TestHouse.key.utf8)): all, Digest.sha256(Array("production".utf8)): production,
        ])
    }

    @Test func askedAgainTheLedgerIsNotReadAndAfterAChangeItIs() async throws {
        let store = CountedStore(MemoryStore())
        try await TestHouse(store: store, terms: Self.terms()).open { house in
            let none = await Self.ask(house, "ann")
            let reads = store.reads
            #expect(await Self.ask(house, "ann") == none)
            #expect(store.reads == reads)
            let tag = try #require(none.fields["ETag"])
            let fields: HTTPFields = ["Authorization": "Bearer \(TestHouse.key)", "If-None-Match": tag]
            let request = HTTPRequest(method: .get, path: "/v1/customers/ann/entitlements", fields: fields)
            #expect(await house.router.respond(to: request).status == .notModified)
            #expect(store.reads == reads)
            let proof = try Self.proof(1)
            #expect(await house.submit(proof, customer: "ann").status == .ok)
            let premium = await Self.ask(house, "ann")
            #expect(Self.text(premium).contains("premium"))
            #expect(await house.router.respond(to: request).status == .ok)
            house.clock.advance(by: .seconds(30 * 86_400))
            #expect(await Self.ask(house, "ann").body == none.body)
        }
    }

    /// A key for one store is not answered with what another key was told.
    @Test func anAnswerIsForWhoeverMaySeeAsMuch() async throws {
        let store = MemoryStore()
        try await TestHouse(store: store, terms: Self.terms(), keys: Self.keys()).open { house in
            let proof = try Self.proof(1)
            #expect(await house.submit(proof, customer: "ann").status == .ok)
            for _ in 1...2 {
                let all = await house.get("/v1/customers/ann/entitlements")
                let production = await house.get("/v1/customers/ann/entitlements", key: "production")
                #expect(Self.text(all).contains("premium"))
                #expect(Self.text(production).contains("\"entitlements\":[]"))
            }
        }
    }

    /// Purchases, refunds, transfers, what is granted by hand and time, in any order: asked at every step, and answered as
    /// by a server that keeps nothing.
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func noAnswerIsOlderThanTheLedger(seed: UInt64) async throws {
        let ledger = MemoryStore()
        let counted = CountedStore(ledger)
        let asking = try TestHouse(store: CountedStore(ledger, isMarked: false), terms: Self.terms())
        try await TestHouse(store: counted, terms: Self.terms()).open { house in
            var random = SeededRandom(seed: seed)
            var bought: [Timestamp] = []
            var (asked, granted, byHand) = (0, 0, 0)
            for step in 1...Self.steps {
                try await Self.act(on: house, &bought, &random)
                // No two facts are signed at one moment.
                let days = Int.random(in: 0..<8, using: &random) == 0 ? Int.random(in: 1...40, using: &random) : 0
                for clock in [house.clock, asking.clock] { clock.advance(by: .seconds(1 + days * 86_400)) }
                let before = counted.reads
                for customer in Self.customers + Self.customers {
                    let (kept, read) = (await Self.ask(house, customer), await Self.ask(asking, customer))
                    #expect(kept == read, "seed \(seed), step \(step), \(customer)")
                    granted += Self.text(read).contains("premium") ? 1 : 0
                    byHand += Self.text(read).contains("granted_by_hand") ? 1 : 0
                }
                asked += counted.reads - before
            }
            #expect(asked <= Self.steps * Self.customers.count, "answers are given again")
            #expect(granted > byHand && byHand > 0)
        }
    }

    private static func act(
        on house: TestHouse,
        _ bought: inout [Timestamp],
        _ random: inout SeededRandom
    ) async throws {
        let now = house.clock.now
        let customer = try #require(customers.randomElement(using: &random))
        guard let old = bought.indices.randomElement(using: &random), Int.random(in: 0..<4, using: &random) > 0 else {
            bought.append(now)
            let proof = try proof(bought.count, boughtAt: now, signedAt: now)
            #expect(await house.submit(proof, customer: customer).status == .ok)
            return
        }
        switch Int.random(in: 0..<4, using: &random) {
        case 3:
            let verb = ["grant", "grant", "revoke"].randomElement(using: &random) ?? "grant"
            let days = Int64.random(in: 1...20, using: &random)
            let end = try #require(RFC3339.text(milliseconds: now.milliseconds + 86_400_000 * days))
            let until = verb == "grant" ? #""until": "\#(end)", "# : ""
            let body = "{\(until)\"environment\": \"sandbox\"}"
            let answer = await house.change("/v1/customers/\(customer)/granted-entitlements/premium/\(verb)", body)
            #expect(verb == "revoke" ? [.ok, .notFound].contains(answer.status) : answer.status == .ok)
        case 0:
            let proof = try proof(old + 1, boughtAt: bought[old], isRevoked: true, signedAt: now)
            _ = await house.submit(proof, customer: customer)
        case 1:
            let body = """
                {"original_transaction_id": "\(old + 1)", "to_customer_id": "\(customer)", "environment": "sandbox",
                "test_signed": true}
                """
            _ = await house.change("/v1/transfers", body)
        default:
            // Somebody shows what may be another's.
            let proof = try proof(old + 1, boughtAt: bought[old], signedAt: now)
            _ = await house.submit(proof, customer: customer)
        }
    }
}

/// Counts reads, and may hide that the ledger is ours alone.
private final class CountedStore: Store {
    private let base: any Store
    private let isMarked: Bool
    private let count = Atomic(0)

    var reads: Int { count.load(ordering: .relaxed) }

    init(_ base: any Store, isMarked: Bool = true) {
        self.base = base
        self.isMarked = isMarked
    }

    var entitlementMarks: EntitlementMarks? { isMarked ? base.entitlementMarks : nil }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        try await base.write(body)
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        count.add(1, ordering: .relaxed)
        return try await base.read(body)
    }

    func close() async { await base.close() }
}
