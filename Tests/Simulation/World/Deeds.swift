import Encoding
import HTTP
import PurchaseModel
import Simulator

// What somebody does in one step: a customer, Apple, the shop, an operator.
extension World {
    /// One thing, by the dice.
    func doSomething() async {
        let customer = dice.pick(customers)
        switch dice.below(33) {
        case ..<7: await customer.buy(self)
        case ..<11: await customer.placeOrder(self)
        case ..<14: await customer.present(self)
        case ..<18: await customer.repeatProof(self)
        case ..<20:
            customer.openApp(self)
            await customer.present(self)
        case 20: await customer.forge(self)
        case 21: await customer.sendNumber(self)
        case 22: await look(customer)
        case 23: await use(customer)
        case 24: await cancelOrder(customer)
        case 25: await attach(customer)
        case 26: await transfer(customer)
        case 27: await give(customer)
        default: liveOn(customer)
        }
    }

    /// What customers and Apple do without the shop.
    private func liveOn(_ customer: Customer) {
        let product = dice.pick(Trade.products).product
        let subscription = Act.Subscription(customer: customer.name, app: DemoCatalogue.bundleID, product: product)
        let owned = appStore.owned(by: customer.name)
        let act: Act
        switch dice.below(10) {
        case 0: act = .setAutoRenew(subscription, isOn: dice.happens(oneIn: 2))
        case 1: act = .changePlan(subscription, to: dice.pick(Trade.products).product)
        case 2: act = .setPayment(customer: customer.name, works: dice.happens(oneIn: 2))
        case _ where owned.isEmpty: return
        case ..<7:
            let decision: [Act.RefundDecision] = [
                .full, .full, .prorated(percentage: nil), .prorated(percentage: 33_333),
            ]
            act = .decideRefund(dice.pick(owned).id, dice.pick(decision))
        default: act = .reverseRefund((owned.filter(\.isRevoked).first ?? owned[0]).id)
        }
        for id in appStore.perform(act) { chronicle.note("Apple changes \(id)") }
    }

    private func look(_ customer: Customer) async {
        _ = await get("/v1/customers/\(customer.name)/entitlements", for: customer.name)
        _ = await get("/v1/customers/\(customer.name)/balances", for: customer.name)
        _ = await get("/v1/events", query: "limit=5", for: "feed")
        _ = await get("/v1/purchases/waiting", for: "support")
    }

    /// The customer uses some of what she has, or support gives or takes some.
    private func use(_ customer: Customer) async {
        let isUse = dice.happens(oneIn: 2)
        let body = JSONWriter.object { json in
            let amount = isUse ? 1 + dice.below(150) : dice.below(200) - 100
            // By nothing nobody corrects a balance.
            json.member("amount", amount == 0 ? 100 : amount)
            json.member("environment", customer.environment.rawValue)
            json.member("test_signed", true)
        }
        let path = "/v1/customers/\(customer.name)/balances/coins/\(isUse ? "use" : "adjust")"
        let answer = await change(path, body, key: "use-\(dice.next())", for: customer.name)
        let code = answer?.status.rawValue ?? 200
        findings.expect([200, 409].contains(code), "balances are used", "\(path) has \(code)")
    }

    /// Support grants something without a purchase, or ends it.
    private func give(_ customer: Customer) async {
        let isGrant = dice.below(3) > 0
        let until = Timestamp(milliseconds: clock.now.milliseconds + 86_400_000 * Int64(1 + dice.below(20)))
        let body = JSONWriter.object { json in
            if isGrant { json.member("until", RFC3339.text(milliseconds: until.milliseconds)) }
            json.member("environment", customer.environment.rawValue)
            json.member("test_signed", true)
        }
        let name = dice.pick(["sword", "season", "premium"])
        let path = "/v1/customers/\(customer.name)/granted-entitlements/\(name)/\(isGrant ? "grant" : "revoke")"
        let answer = await change(path, body, key: "give-\(dice.next())", for: "support")
        let code = answer?.status.rawValue ?? 200
        findings.expect([200, isGrant ? 200 : 404].contains(code), "support grants by hand", "\(path) has \(code)")
    }

    private func cancelOrder(_ customer: Customer) async {
        guard let order = customer.orders.isEmpty ? nil : dice.pick(customer.orders) else { return }
        _ = await change("/v1/orders/\(order.id)/cancel", [], key: "cancel-\(order.id)", for: "support")
    }

    private func attach(_ customer: Customer) async {
        guard let order = customer.orders.isEmpty ? nil : dice.pick(customer.orders),
            let bought = customer.proofs.isEmpty ? nil : dice.pick(customer.proofs)
        else { return }
        let body = JSONWriter.object { json in
            json.member("transaction_id", bought.fact.id.description)
            json.member("environment", bought.environment.rawValue)
            json.member("test_signed", true)
            json.member("overrule_account_token", true)
        }
        _ = await change("/v1/orders/\(order.id)/attach", body, key: "attach-\(dice.next())", for: "support")
    }

    private func transfer(_ customer: Customer) async {
        guard let bought = customer.proofs.isEmpty ? nil : dice.pick(customer.proofs) else { return }
        let body = JSONWriter.object { json in
            json.member("original_transaction_id", (bought.fact.originalID ?? bought.fact.id).description)
            json.member("environment", bought.environment.rawValue)
            json.member("test_signed", true)
            json.member("to_customer_id", dice.pick(customers).name)
            json.member("overrule_account_token", true)
        }
        _ = await change("/v1/transfers", body, key: "transfer-\(dice.next())", for: "support")
    }

    /// The shop says what it has delivered; what gets no answer it says again later.
    func acknowledge() async {
        for (delivery, fence) in shop.takeUnacknowledged() {
            let body = JSONWriter.object { $0.member("fence", fence) }
            let path = "/v1/deliveries/\(delivery)/ack"
            guard let answer = await change(path, body, key: "ack-\(delivery)-\(fence)", for: "shop") else {
                shop.putBack(delivery, fence: fence)
                continue
            }
            // What has changed since is told of by another message.
            let isTaken = answer.status == .ok
            findings.expect(isTaken || answer.status == .conflict, "deliveries are acknowledged", "\(path) \(fence)")
            if isTaken { witness.note { $0.acknowledged[delivery] = max(fence, $0.acknowledged[delivery] ?? 0) } }
        }
    }
}
