import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Simulator
import Synchronization

/// A customer, her device and the app on it: what it does not know to be recorded it sends again.
final class Customer: Sendable {
    let name: String
    let environment: StoreEnvironment
    let id: CustomerID

    private struct State {
        /// What was bought and is not known to be recorded.
        var unsent: [PurchaseProof] = []
        /// All that the device ever had.
        var proofs: [PurchaseProof] = []
        /// What the device has seen of each transaction.
        var seen: [TransactionID: Timestamp] = [:]
        var orders: [Wish] = []
        var count = 0
    }

    /// An order as the shop places it.
    struct Wish: Sendable {
        let id: OrderID
        let product: ProductID
        let quantity: Int
        let token: AccountToken?
        let body: [UInt8]
    }

    private let state = Mutex(State())

    init(_ name: String, _ environment: StoreEnvironment) {
        self.name = name
        self.environment = environment
        id = CustomerID(checked: name)
    }

    var proofs: [PurchaseProof] { state.withLock { $0.proofs } }
    var orders: [Wish] { state.withLock { $0.orders } }
    var hasUnsent: Bool { state.withLock { !$0.unsent.isEmpty } }

    /// A number that she has not used yet.
    private func number() -> Int {
        state.withLock { state in
            state.count += 1
            return state.count
        }
    }

    // MARK: Buying

    /// Places an order, and the same once more now and then.
    func placeOrder(_ world: World) async {
        let product = world.dice.pick(Trade.products).product
        let order = OrderID(checked: "\(name)-order-\(number())")
        let token = token(world)
        let quantity = world.dice.happens(oneIn: 4) ? 2 : 1
        let body = JSONWriter.object { json in
            json.member("order_id", order.text)
            json.member("customer_id", name)
            json.member("product_id", product.text)
            json.member("quantity", quantity)
            json.member("app_account_token", token?.description)
            json.member("expires_in_seconds", world.dice.pick([600, 86_400, 3_000_000]))
        }
        let wish = Wish(id: order, product: product, quantity: quantity, token: token, body: body)
        state.withLock { $0.orders.append(wish) }
        await place(wish, world)
        if world.dice.happens(oneIn: 3) { await place(wish, world) }
    }

    func place(_ wish: Wish, _ world: World) async {
        guard let answer = await world.change("/v1/orders", wish.body, key: wish.id.text, for: name) else { return }
        world.findings.expect(answer.status == .created, "orders are taken", "\(wish.id) has \(answer.status)")
        world.witness.note { $0.placed.insert(wish.id) }
    }

    /// Buys for an order, or just so, and presents what she has then.
    func buy(_ world: World) async {
        let wish = orders.isEmpty || world.dice.happens(oneIn: 3) ? nil : world.dice.pick(orders)
        var purchase = Act.Purchase(
            customer: name,
            app: DemoCatalogue.bundleID,
            product: wish?.product ?? world.dice.pick(Trade.products).product
        )
        purchase.accountToken = wish?.token ?? token(world)
        let isOneOfMany = purchase.product.text.contains("coins")
        purchase.quantity = isOneOfMany ? wish?.quantity ?? 1 + world.dice.below(2) : 1
        for id in world.appStore.perform(.buy(purchase)) {
            world.chronicle.note("\(name) buys \(purchase.product) as \(id)")
            see(id, order: world.dice.happens(oneIn: 2) ? wish?.id : nil, world)
        }
        await present(world)
    }

    /// What the app gives StoreKit: often nothing, her name as client libraries write it, or anything else.
    private func token(_ world: World) -> AccountToken? {
        switch world.dice.below(6) {
        case 0: AccountToken(ofCustomer: id)
        case 1: AccountToken(high: UInt64(world.dice.below(3)), low: 7)
        case 2: AccountToken(ofCustomer: world.dice.pick(world.customers).id)
        default: nil
        }
    }

    // MARK: Presenting

    /// The device learns of whatever is new about her purchases.
    func openApp(_ world: World) {
        for sold in world.appStore.owned(by: name) {
            if state.withLock({ $0.seen[sold.id] == sold.modifiedAt }) { continue }
            see(sold.id, order: nil, world)
        }
    }

    private func see(_ id: TransactionID, order: OrderID?, _ world: World) {
        guard let proof = try? world.appStore.proof(of: id, order: order) else { return }
        let modified = world.appStore.simulator.read { $0.transactions[id]?.modifiedAt }
        state.withLock { state in
            state.seen[id] = modified
            state.proofs.append(proof)
            state.unsent.append(proof)
        }
    }

    /// Sends what is not known to be recorded, in any order.
    func present(_ world: World) async {
        for _ in 0..<world.patience {
            let proof = state.withLock { state in
                state.unsent.isEmpty ? nil : state.unsent.remove(at: world.dice.below(state.unsent.count))
            }
            guard let proof else { return }
            if await submit(proof, world) == nil { state.withLock { $0.unsent.append(proof) } }
        }
    }

    /// Shows a proof that need not be hers, nor new.
    ///
    /// - Returns: nil when nothing is known to have come of it.
    @discardableResult
    func submit(_ proof: PurchaseProof, _ world: World) async -> HTTPResponse? {
        let body = JSONWriter.object { json in
            json.member("proof", proof.text)
            json.member("customer_id", name)
            json.member("order_id", proof.order?.text)
            if world.dice.happens(oneIn: 4) { json.member("product_id", proof.fact.product.text) }
        }
        guard let response = await world.post("/v1/purchases", body, for: name) else { return nil }
        guard response.status == .ok, names(proof, response) else {
            let text = String(decoding: response.body, as: UTF8.self)
            world.findings.note("what is genuine is taken", "\(name) shows \(proof.fact.id): \(text)")
            return response
        }
        world.witness.note { $0.accepted[proof.key, default: []].append(proof.fact) }
        return response
    }

    private func names(_ proof: PurchaseProof, _ response: HTTPResponse) -> Bool {
        let transactions = (try? JSONDocument(response.body))?.root.object?["transactions"]?.array
        return transactions?.contains { $0.object?["transaction_id"]?.string == proof.fact.id.description } ?? false
    }

    /// Shows again what was shown before, hers or another's.
    func repeatProof(_ world: World) async {
        let others = world.customers.flatMap(\.proofs).filter { $0.environment == environment }
        let all = world.dice.happens(oneIn: 2) ? proofs : others
        guard !all.isEmpty else { return }
        var proof = world.dice.pick(all)
        if world.dice.happens(oneIn: 4), !orders.isEmpty { proof.order = world.dice.pick(orders).id }
        await submit(proof, world)
    }

    /// Shows what nobody can have signed; it is refused, however often.
    func forge(_ world: World) async {
        guard let known = proofs.isEmpty ? nil : world.dice.pick(proofs) else { return }
        let proof: String
        if world.dice.happens(oneIn: 2) {
            proof = (try? world.appStore.forgery(of: known.fact.id)) ?? "no proof"
        } else {
            var bytes = Array(known.text.utf8)
            let place = bytes.count / 2 + world.dice.below(bytes.count / 2)
            bytes[place] = bytes[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            // The last letter of a segment may say less than it could.
            guard bytes.count - place > 2, bytes[place + 1] != UInt8(ascii: ".") else { return }
            proof = String(decoding: bytes, as: UTF8.self)
        }
        let body = JSONWriter.object { json in
            json.member("proof", proof)
            json.member("customer_id", name)
        }
        guard let response = await world.post("/v1/purchases", body, for: name) else { return }
        world.findings.expect(
            response.status == .unprocessableContent,
            "I3 no forgery",
            "\(name) shows a forgery of \(known.fact.id) and has \(response.status.rawValue)"
        )
    }

    /// Sends only a number, which proves nothing and is kept.
    func sendNumber(_ world: World) async {
        guard let known = proofs.isEmpty ? nil : world.dice.pick(proofs) else { return }
        let body = JSONWriter.object { json in
            json.member("proof", known.fact.id.description)
            json.member("customer_id", name)
        }
        guard let response = await world.post("/v1/purchases", body, for: name) else { return }
        let kept = (try? JSONDocument(response.body))?.root.object?["submission_id"]?.string
        guard response.status == .accepted, let kept else {
            return world.findings.note("a number is kept", "\(known.fact.id) has \(response.status.rawValue)")
        }
        world.witness.note { $0.kept.insert(kept) }
    }
}
