import Encoding
import PurchaseModel

/// Acts as JSON: what stands in a story's step, and what the control API takes.
///
/// ```json
/// {"act": "buy", "customer": "anna", "product": "pro.monthly", "as": "first"}
/// {"act": "ask_refund", "transaction": "first", "reason": "LEGAL", "outcome": "full"}
/// ```
/// A product may leave out the bundle id in front. A transaction is named by its number, by a label that an earlier act
/// gave with `as`, or as the newest one of a `customer` (and `product`).
struct ActReader {
    let store: SimulatedStore
    let labels: [String: TransactionID]
    /// The app of acts that name none.
    let defaultApp: BundleID

    /// The act, and the label that its newest transaction is to have.
    func act(_ members: inout StoryMembers) throws(StoryFault) -> (act: Act, label: String?) {
        let word = try members.required("act", members.text("act"))
        let label = try members.text("as")
        guard let kind = ActName(rawValue: word) else { throw StoryFault("act", "there is no act \"\(word)\"") }
        let act = try act(kind, &members)
        try members.finish()
        return (act, label)
    }

    private func act(_ kind: ActName, _ members: inout StoryMembers) throws(StoryFault) -> Act {
        switch kind {
        case .buy: return .buy(try purchase(&members))
        case .redeemOffer:
            let offer = try members.required("offer", members.text("offer"))
            return .redeemOffer(try subscription(&members), offer: offer)
        case .cancel: return .setAutoRenew(try subscription(&members), isOn: false)
        case .resume: return .setAutoRenew(try subscription(&members), isOn: true)
        case .changePlan:
            let app = try app(&members)
            let target = try members.required("to", product(&members, "to", app))
            let customer = try customer(&members)
            return .changePlan(Act.Subscription(customer: customer, app: app, product: target), to: target)
        case .answerPriceRise:
            let isAccepted = try members.required("accept", members.flag("accept"))
            return .answerPriceRise(try subscription(&members), isAccepted: isAccepted)
        case .end: return .end(try subscription(&members))
        case .announceAdvancedCommerce:
            let words = Act.AdvancedCommerceChange.allCases.map(\.rawValue).joined(separator: ", ")
            let change = try members.made("change", "one of \(words)") { Act.AdvancedCommerceChange(rawValue: $0) }
            let named = try members.required("change", change)
            return .announceAdvancedCommerce(try subscription(&members), named)
        case .answerAskToBuy:
            let isApproved = try members.required("approve", members.flag("approve"))
            return .answerAskToBuy(customer: try customer(&members), isApproved: isApproved)
        case .setPayment:
            let works = try members.required("works", members.flag("works"))
            return .setPayment(customer: try customer(&members), works: works)
        case .setFamily:
            return .setFamily(customer: try customer(&members), family: try members.text("family"))
        case .rescindConsent:
            return .rescindConsent(customer: try customer(&members), app: try app(&members))
        default: return try ofTransactionOrMerchant(kind, &members)
        }
    }

    private func ofTransactionOrMerchant(
        _ kind: ActName,
        _ members: inout StoryMembers
    ) throws(StoryFault) -> Act {
        switch kind {
        case .finish: return .finish(try transaction(&members))
        case .askRefund: return .askRefund(try refund(&members))
        case .decideRefund:
            let decision = try members.required("decision", decision(&members, "decision"))
            return .decideRefund(try transaction(&members), decision)
        case .reverseRefund: return .reverseRefund(try transaction(&members))
        case .setSharing:
            let isOn = try members.required("on", members.flag("on"))
            return .setSharing(try transaction(&members), isOn: isOn)
        case .setAccountToken:
            let token = try members.made("token", "a UUID") { AccountToken($0) }
            return .setAccountToken(try transaction(&members), try members.required("token", token))
        case .extend:
            let terms = try terms(&members)
            return .extend(try transaction(&members), terms)
        default: return try ofMerchant(kind, &members)
        }
    }

    private func ofMerchant(_ kind: ActName, _ members: inout StoryMembers) throws(StoryFault) -> Act {
        let app = try app(&members)
        switch kind {
        case .extendAll:
            var request = Act.MassExtension(
                app: app,
                environment: try members.environment() ?? .production,
                product: try members.required("product", product(&members, "product", app)),
                terms: try terms(&members)
            )
            request.countries = try members.texts("countries") ?? []
            return .extendAll(request)
        case .raisePrice:
            let milliunits = try members.required("price", members.number("price", 0...1_000_000_000_000))
            let currency = try members.text("currency") ?? "USD"
            return .raisePrice(
                Act.PriceRise(
                    app: app,
                    product: try members.required("product", product(&members, "product", app)),
                    price: Price(milliunits: milliunits, currency: currency),
                    needsConsent: try members.flag("needs_consent") ?? false
                )
            )
        case .setForSale:
            let isOn = try members.required("on", members.flag("on"))
            let product = try members.required("product", product(&members, "product", app))
            return .setForSale(app: app, product, isOn: isOn)
        case .createExternalPurchase:
            let kind = try members.made("kind", "CREATED, ACTIVE_TOKEN_REMINDER or UNREPORTED") {
                Act.ExternalPurchaseKind(rawValue: $0)
            }
            let environment = try members.environment() ?? .production
            return .createExternalPurchase(app: app, environment: environment, kind: kind ?? .created)
        default:
            return .requestTestNotification(app: app, environment: try members.environment() ?? .production)
        }
    }

    // MARK: Parts

    private func purchase(_ members: inout StoryMembers) throws(StoryFault) -> Act.Purchase {
        let app = try app(&members)
        var purchase = Act.Purchase(
            customer: try customer(&members),
            app: app,
            product: try members.required("product", product(&members, "product", app))
        )
        purchase.quantity = Int(try members.number("quantity", -1_000...1_000) ?? 1)
        purchase.accountToken = try members.made("account_token", "a UUID") { AccountToken($0) }
        purchase.offer = try members.text("offer")
        return purchase
    }

    private func refund(_ members: inout StoryMembers) throws(StoryFault) -> Act.RefundRequest {
        var request = Act.RefundRequest(transaction: try transaction(&members))
        let words = Act.RefundReason.allCases.map(\.rawValue).joined(separator: ", ")
        let reason = try members.made("reason", "one of \(words)") { Act.RefundReason(rawValue: $0) }
        request.reason = reason ?? .unintendedPurchase
        request.isInApp = try members.flag("in_app") ?? true
        request.outcome = try decision(&members, "outcome")
        return request
    }

    /// `full`, `declined`, `prorated`, or `prorated` with `percentage` in thousandths of a percent.
    private func decision(_ members: inout StoryMembers, _ name: String) throws(StoryFault) -> Act.RefundDecision? {
        let percentage = try members.number("percentage", 1...99_999).map { Int($0) }
        return try members.made(name, "full, prorated or declined") { word in
            switch word {
            case "full": .full
            case "prorated": .prorated(percentage: percentage)
            case "declined": .declined
            default: nil
            }
        }
    }

    private func terms(_ members: inout StoryMembers) throws(StoryFault) -> Act.Extension {
        Act.Extension(
            days: Int(try members.required("days", members.number("days", 1...90))),
            reason: Int(try members.number("reason", 0...3) ?? 0),
            requestIdentifier: try members.text("request") ?? "request-\(store.notices.count)"
        )
    }

    private func customer(_ members: inout StoryMembers) throws(StoryFault) -> String {
        try members.required("customer", members.text("customer"))
    }

    private func app(_ members: inout StoryMembers) throws(StoryFault) -> BundleID {
        try members.made("app", "a bundle id") { BundleID($0) } ?? defaultApp
    }

    private func subscription(_ members: inout StoryMembers) throws(StoryFault) -> Act.Subscription {
        let app = try app(&members)
        return Act.Subscription(
            customer: try customer(&members),
            app: app,
            product: try members.required("product", product(&members, "product", app))
        )
    }

    /// By its whole id, or by what follows the bundle id.
    private func product(
        _ members: inout StoryMembers,
        _ name: String,
        _ app: BundleID
    ) throws(StoryFault) -> ProductID? {
        try members.made(name, "a product id") { text in
            guard let whole = ProductID(text) else { return nil }
            if store.apps[app]?.products[whole] != nil { return whole }
            return ProductID("\(app.text).\(text)")
        }
    }

    private func transaction(_ members: inout StoryMembers) throws(StoryFault) -> TransactionID {
        if let text = try members.text("transaction") {
            if let labelled = labels[text] { return labelled }
            guard let id = TransactionID(text) else {
                throw StoryFault("transaction", "\"\(text)\" is neither a label nor a number")
            }
            return id
        }
        let app = try app(&members)
        let owner = SimulatedStore.Owner(customer: try customer(&members), app: app)
        let product = try product(&members, "product", app)
        let newest = store.transactions(of: owner).last { product == nil || $0.fact.product == product }
        guard let newest else { throw StoryFault("transaction", "\(owner.customer) has none") }
        return newest.id
    }
}

/// The words for acts. Stable.
enum ActName: String, CaseIterable {
    case buy
    case answerAskToBuy = "answer_ask_to_buy"
    case finish
    case cancel
    case resume
    case changePlan = "change_plan"
    case redeemOffer = "redeem_offer"
    case setPayment = "set_payment"
    case askRefund = "ask_refund"
    case decideRefund = "decide_refund"
    case reverseRefund = "reverse_refund"
    case setFamily = "set_family"
    case setSharing = "set_sharing"
    case raisePrice = "raise_price"
    case answerPriceRise = "answer_price_rise"
    case setForSale = "set_for_sale"
    case extend
    case extendAll = "extend_all"
    case setAccountToken = "set_account_token"
    case end
    case announceAdvancedCommerce = "announce_advanced_commerce"
    case rescindConsent = "rescind_consent"
    case createExternalPurchase = "create_external_purchase"
    case requestTestNotification = "request_test_notification"
}
