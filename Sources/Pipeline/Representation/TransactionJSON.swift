package import Encoding
package import PurchaseModel

/// A transaction as our JSON shows it: ids as strings, moments in RFC 3339 with milliseconds, absent values left out.
package enum TransactionJSON {
    /// - Parameters:
    ///   - transaction: what is shown.
    ///   - showsToken: whether the account token is, of which a customer's name can be guessed.
    ///   - json: where to.
    package static func write(
        _ transaction: Transaction,
        showsToken: Bool = true,
        into json: inout JSONObjectWriter
    ) {
        json.member("transaction_id", digitsOf: transaction.id.number)
        json.member("original_transaction_id", digitsOf: transaction.originalID?.number)
        json.member("previous_original_transaction_id", digitsOf: transaction.previousOriginalID?.number)
        json.member("product_id", transaction.product.text)
        json.member("type", transaction.kind?.rawValue)
        json.member("quantity", transaction.quantity)
        json.member("purchase_date", transaction.purchasedAt)
        json.member("original_purchase_date", transaction.originallyPurchasedAt)
        json.member("expires_date", transaction.expiresAt)
        json.member("billing_plan", transaction.billingPlan)
        json.member("commitment_ends_at", transaction.commitmentEndsAt)
        if let revocation = transaction.revocation {
            json.member("revocation_date", revocation.at)
            json.member("revocation_reason", revocation.reason)
            json.member("revocation_type", revocation.type)
            json.member("revocation_percentage", revocation.percentage)
            if transaction.isPartlyTakenBack { json.member("is_partly_revoked", true) }
        }
        if transaction.isUpgraded { json.member("is_upgraded", true) }
        json.member("transaction_reason", transaction.reason?.rawValue)
        json.member("ownership", transaction.ownership?.rawValue)
        if showsToken { json.member("app_account_token", transaction.accountToken?.description) }
        if let offer = transaction.offer {
            json.member("offer_type", offer.kind.rawValue)
            json.member("offer_identifier", offer.identifier)
            json.member("offer_discount_type", offer.discount)
            json.member("offer_period", offer.period)
        }
        if let price = transaction.price {
            json.member("price_milliunits", price.milliunits)
            json.member("currency", price.currency)
        }
        if let goods = transaction.advancedCommerce { json.object("advanced_commerce") { write(goods, into: &$0) } }
        json.member("storefront", transaction.storefront)
        json.member("subscription_group", transaction.subscriptionGroup)
        json.member("web_order_line_item_id", transaction.webOrderLineItem)
        json.member("app_transaction_id", transaction.appTransaction)
    }

    private static func write(_ goods: AdvancedCommerce, into json: inout JSONObjectWriter) {
        json.array("items") { json in
            for item in goods.items {
                json.object { json in
                    json.member("sku", item.sku)
                    json.member("price_milliunits", item.milliunits)
                    json.member("revocation_date", item.revokedAt)
                    if item.refunds.isEmpty { return }
                    json.array("refunds") { json in
                        for refund in item.refunds {
                            json.object { json in
                                json.member("type", refund.type)
                                json.member("amount_milliunits", refund.milliunits)
                                json.member("date", refund.at)
                            }
                        }
                    }
                }
            }
        }
    }

    /// A recorded transaction, with the side of the wall on which it stands.
    ///
    /// - Parameters:
    ///   - recorded: what is shown.
    ///   - reader: the customer who asks: of what somebody else had first it is not told who, nor for which order, nor the token
    ///     that Apple signed. `nil` when the shop asks.
    ///   - json: where to.
    package static func write(
        _ recorded: RecordedTransaction,
        to reader: CustomerID? = nil,
        into json: inout JSONObjectWriter
    ) {
        let isWhole = isWhole(recorded, to: reader)
        write(recorded.transaction, showsToken: isWhole, into: &json)
        json.member("environment", recorded.realm.environment.rawValue)
        if recorded.realm.isTestSigned { json.member("test_signed", true) }
        if isWhole {
            json.member("customer_id", recorded.customer?.text)
            json.member("order_id", recorded.order?.text)
        }
        json.member("signed_at", recorded.transaction.signedAt)
        json.member("recorded_at", recorded.recordedAt)
    }

    /// Whether a reader is told whose a transaction was first, and with it the token that Apple signed: a customer of what
    /// is hers, and the shop, which is `nil`, of all.
    package static func isWhole(_ recorded: RecordedTransaction, to reader: CustomerID?) -> Bool {
        reader == nil || recorded.customer == reader
    }

    /// `nil` for none, and for a moment outside of the years 0 to 9999, which no signed date means.
    package static func text(_ moment: Timestamp?) -> String? {
        moment.flatMap { RFC3339.text(milliseconds: $0.milliseconds) }
    }
}

extension JSONObjectWriter {
    /// A moment in RFC 3339 with milliseconds.
    package mutating func member(_ key: String, _ moment: Timestamp?) {
        self.moment(key, milliseconds: moment?.milliseconds)
    }
}
