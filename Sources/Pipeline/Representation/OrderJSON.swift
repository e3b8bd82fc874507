package import Encoding
package import PurchaseModel

/// An order as our JSON shows it.
package enum OrderJSON {
    package static func write(_ order: Order, into json: inout JSONObjectWriter) {
        json.member("order_id", order.id.text)
        json.member("customer_id", order.customer.text)
        json.member("product_id", order.product.text)
        json.member("quantity", order.quantity)
        json.member("app_account_token", order.accountToken?.description)
        json.member("state", order.state.rawValue)
        json.member("placed_at", order.placedAt)
        json.member("expires_at", order.expiresAt)
        json.member("changed_at", order.changedAt)
        if order.refunded > 0 { json.member("refunded_percentage", order.refunded) }
        guard let payment = order.payment else { return }
        json.object("payment") { json in
            json.member("transaction_id", payment.transaction.description)
            json.member("environment", payment.realm.environment.rawValue)
            if payment.realm.isTestSigned { json.member("test_signed", true) }
            json.member("matched_by", payment.match.rawValue)
        }
    }
}
