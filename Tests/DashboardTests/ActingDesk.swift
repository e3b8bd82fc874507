import Dashboard
import HTTP
import Pipeline
import PurchaseModel
import Storage
import Testing

/// A dashboard over a ledger in which something waits, something was granted and something is to be delivered; and an
/// operator before it.
struct ActingDesk {
    static let realm = Realm(environment: .production, isTestSigned: false)
    /// What an id may be made of, at its worst.
    static let hostile = "\"'><script>alert(1)</script>"
    static let (coins, pro) = (ProductID(checked: "coins<b>"), ProductID(checked: "pro"))
    static let currency = CurrencyID(checked: "gold<i>")

    let desk: Desk
    let browser: Browser
    let customer = CustomerID(checked: hostile)
    let order = OrderID(checked: "order" + hostile)

    init(_ role: AdminRole = .operator, reach: AppleReach = .everything, needsOrder: Bool = true) async throws {
        let coins = ProductTerms(product: Self.coins, kind: .consumable, goods: [.amount(100, Self.currency)])
        let goods = Goods.entitlement(EntitlementID(checked: "pro<u>"))
        let pro = ProductTerms(product: Self.pro, kind: .nonConsumable, goods: [goods])
        let terms = AppTerms(products: [Self.coins: coins, Self.pro: pro], needsOrder: needsOrder)
        desk = Desk(terms, reach: reach)
        try await desk.add("olga", role)
        browser = Browser(desk)
        _ = await browser.signIn("olga")
    }

    // MARK: What is in the ledger

    func place(_ order: OrderID, product: ProductID = coins, token: AccountToken? = nil) async throws {
        let (now, policy) = (desk.clock.now, desk.policy)
        let row = Order(
            app: Desk.app,
            id: order,
            customer: customer,
            product: product,
            quantity: 1,
            accountToken: token,
            placedAt: now,
            expiresAt: now.advanced(by: .seconds(86_400))
        )
        let placed = try await desk.store.write { write throws(StoreFailure) in
            try LedgerRequests.place(row, for: policy, at: now, in: write)
        }
        _ = try placed.get()
    }

    func cancel(_ order: OrderID) async throws {
        let now = desk.clock.now
        let key = OrderKey(app: Desk.app, id: order)
        let cancelled = try await desk.store.write { write throws(StoreFailure) in
            try LedgerRequests.cancel(key, at: now, in: write)
        }
        _ = try cancelled.get()
    }

    /// Records a purchase that the customer presents.
    func buy(_ number: Int64, product: ProductID = coins, _ change: (inout Transaction) -> Void = { _ in }) async throws
    {
        let now = desk.clock.now
        let id = try #require(TransactionID(number: number))
        var sold = Transaction(
            id: id,
            originalID: id,
            product: product,
            kind: product == Self.coins ? .consumable : .nonConsumable,
            purchasedAt: now,
            signedAt: now
        )
        change(&sold)
        let recording = Recording(
            app: Desk.app,
            realm: Self.realm,
            transactions: [sold],
            customer: customer,
            terms: desk.policy.terms
        )
        let evidence = EvidenceRow(
            digest: try #require(ProofDigest([UInt8](repeating: UInt8(number), count: 32))),
            format: "jws",
            proof: Array(Self.hostile.utf8),
            customer: customer,
            receivedAt: now,
            verdict: "genuine"
        )
        try await desk.store.write { write throws(StoreFailure) in
            let situation = try write.situation(around: [recording])
            let decision = decide(situation, recording, ownToken: { _ in nil }, at: now)
            try write.apply(decision, evidence: evidence)
            try write.append(EventRows.rows(decision.events))
        }
    }

    /// Grants for ever, by hand, what the product for good gives.
    func grant(_ customer: String) async throws {
        let (now, policy) = (desk.clock.now, desk.policy)
        let key = GrantedEntitlementKey(
            app: Desk.app,
            realm: Self.realm,
            customer: CustomerID(checked: customer),
            entitlement: EntitlementID(checked: "pro<u>")
        )
        let granted = try await desk.store.write { write throws(StoreFailure) in
            let motive = Motive(actor: "shop")
            return try LedgerRequests.grant(key, until: nil, because: motive, for: policy, at: now, in: write)
        }
        _ = try granted.get()
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws(StoreFailure) -> Value
    ) async throws -> Value {
        try await desk.store.read(body)
    }

    func fulfilment(_ number: Int64) async throws -> Fulfilment? {
        let id = try #require(TransactionID(number: number))
        let chain = ChainKey(app: Desk.app, realm: Self.realm, original: id)
        return try await read { reader throws(StoreFailure) in try reader.fulfilments([chain]).first }
    }

    func state(of order: OrderID) async throws -> OrderState? {
        let key = OrderKey(app: Desk.app, id: order)
        return try await read { reader throws(StoreFailure) in try reader.orders([key]).first?.state }
    }

    func balance() async throws -> Int64 {
        let customer = customer
        return try await read { reader throws(StoreFailure) in
            try reader.wallets(app: Desk.app, customer: customer).first?.balance ?? 0
        }
    }

    /// The types of all events, in the order of the feed.
    func events() async throws -> [String] {
        try await read { reader throws(StoreFailure) in
            try reader.events(app: Desk.app, after: .start, where: .everything, limit: 500).events.map(\.event.type)
        }
    }

    /// What operators did, the newest first.
    func audit() async throws -> [AdminAction] {
        try await read { reader throws(StoreFailure) in
            try reader.adminActions(before: nil, limit: 50).actions.filter { $0.action != "signed_in" }
        }
    }

    // MARK: What the operator does

    /// A query of these parameters.
    static func address(_ path: String, _ parameters: [(String, String)]) -> String {
        let coded = parameters.map { name, value in
            name + "=" + value.utf8.map { "%" + (($0 < 16 ? "0" : "") + String($0, radix: 16)) }.joined()
        }
        return "/dashboard\(path)?" + coded.joined(separator: "&")
    }

    static func transaction(_ path: String, _ number: Int64, _ more: [(String, String)] = []) -> String {
        address(path, [("app", "shop"), ("side", "production"), ("id", String(number))] + more)
    }

    /// Loads an action's page and sends its form.
    func act(_ target: String, because reason: String = "she wrote to us <b>") async -> HTTPResponse {
        let page = await browser.get(target)
        let path = String(target.prefix { $0 != "?" })
        return await browser.post(path, Browser.fields(page, of: path) + [("reason", reason)])
    }
}

extension HTTPResponse {
    /// Whether what came from outside is on the page, and none of it is markup.
    var isEscaped: Bool {
        text.contains("&lt;script&gt;")
            && ["<script", "<b>", "<i>", "<u>"].allSatisfy { text.range(of: $0) == nil }
    }
}
