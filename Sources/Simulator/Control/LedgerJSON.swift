import Encoding
import PurchaseModel

/// The store's truth as JSON: what a checker compares a server's ledger with. Amounts are in thousandths of the
/// currency, moments RFC 3339.
enum LedgerJSON {
    static func write(_ sold: SoldTransaction, into json: inout JSONObjectWriter) {
        let fact = sold.fact
        json.member("transaction_id", fact.id.description)
        json.member("original_transaction_id", sold.originalID.description)
        json.member("app", sold.app.text)
        json.member("environment", sold.environment.rawValue)
        json.member("customer", sold.customer)
        json.member("product", fact.product.text)
        json.member("type", fact.kind?.rawValue)
        json.member("quantity", fact.quantity)
        json.member("reason", sold.reason.appleName)
        json.member("purchased_at", text(fact.purchasedAt))
        json.member("originally_purchased_at", text(fact.originallyPurchasedAt))
        json.member("expires_at", text(fact.expiresAt))
        json.member("ownership", fact.ownership?.rawValue)
        json.member("shared_from", sold.purchasedBy?.description)
        json.member("account_token", fact.accountToken?.description)
        json.member("price", fact.price?.milliunits)
        json.member("currency", fact.price?.currency)
        json.member("storefront", sold.storefront.country)
        json.member("subscription_group", fact.subscriptionGroup)
        json.member("web_order_line_item_id", fact.webOrderLineItem)
        json.member("app_transaction_id", fact.appTransaction)
        json.member("order_id", sold.environment == .production ? sold.orderID : nil)
        if fact.isUpgraded { json.member("upgraded", true) }
        if sold.isFinished { json.member("finished", true) }
        if let offer = fact.offer { write(offer, into: &json) }
        if let revocation = fact.revocation {
            json.object("revocation") { json in
                json.member("at", text(revocation.at))
                json.member("type", revocation.type)
                json.member("reason", revocation.reason)
                json.member("percentage", revocation.percentage)
            }
        }
    }

    static func write(_ line: SubscriptionLine, in store: SimulatedStore, into json: inout JSONObjectWriter) {
        json.member("original_transaction_id", line.originalID.description)
        json.member("customer", line.customer)
        json.member("app", line.app.text)
        json.member("environment", line.environment.rawValue)
        json.member("group", line.group)
        json.member("status", StoryExpectation.word(for: store.status(of: line)))
        json.member("current_transaction_id", line.current.description)
        json.member("next_product", line.nextProduct.text)
        json.member("will_auto_renew", line.willAutoRenew)
        json.member("expires_at", text(line.expiresAt))
        json.member("grace_ends_at", text(line.failure?.graceEndsAt))
        json.member("expiration_intent", line.expirationIntent?.rawValue)
        json.member("shared_from", line.sharedFrom?.description)
    }

    static func write(_ notice: StoreNotice, into json: inout JSONObjectWriter) {
        json.member("uuid", notice.uuid)
        json.member("type", notice.type.rawValue)
        json.member("subtype", notice.subtype)
        json.member("at", text(notice.at))
        json.member("app", notice.app.text)
        json.member("environment", notice.environment.rawValue)
        if case .purchase(let purchase) = notice.subject {
            json.member("transaction_id", purchase.transaction.id.description)
            json.member("customer", purchase.transaction.customer)
        }
    }

    static func write(_ customer: StoreCustomer, into json: inout JSONObjectWriter) {
        json.member("name", customer.name)
        json.member("environment", customer.environment.rawValue)
        json.member("pace", customer.rate.word)
        json.member("storefront", customer.storefront.country)
        json.member("family", customer.family)
        json.member("can_pay", customer.canPay)
        json.member("asks_to_buy", customer.asksToBuy)
    }

    private static func write(_ offer: Offer, into json: inout JSONObjectWriter) {
        json.object("offer") { json in
            json.member("type", offer.kind.rawValue)
            json.member("identifier", offer.identifier)
            json.member("discount", offer.discount)
            json.member("period", offer.period)
        }
    }

    static func text(_ moment: Timestamp?) -> String? {
        moment.flatMap { RFC3339.text(milliseconds: $0.milliseconds) }
    }
}
