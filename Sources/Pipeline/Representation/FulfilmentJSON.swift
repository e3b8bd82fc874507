package import Encoding
package import PurchaseModel

/// What was given for a transaction, as our JSON shows it.
package enum FulfilmentJSON {
    /// The members of a delivery object.
    ///
    /// - Parameters:
    ///   - fulfilment: what is shown.
    ///   - reader: the customer who asks: of what was given to somebody else it is not told to whom, nor for which order.
    ///     `nil` when the shop asks.
    ///   - showsGoods: whether what was given is listed, which has no bound but the catalogue's.
    ///   - json: where to.
    package static func write(
        _ fulfilment: Fulfilment,
        to reader: CustomerID? = nil,
        showsGoods: Bool = true,
        into json: inout JSONObjectWriter
    ) {
        let isWhole = reader == nil || fulfilment.customer == reader
        json.member("delivery_id", DeliveryID(fulfilment.transaction).description)
        json.member("state", fulfilment.state.rawValue)
        json.member("reason", fulfilment.reason?.rawValue)
        if isWhole { json.member("customer_id", fulfilment.customer?.text) }
        json.member("product_id", fulfilment.product.text)
        json.member("quantity", fulfilment.quantity)
        if isWhole {
            json.member("order_id", fulfilment.order?.text)
            json.member("matched_by", fulfilment.match?.rawValue)
        }
        if fulfilment.delivery != nil {
            json.member("delivery", fulfilment.delivery?.rawValue)
            json.member("fence", fulfilment.fence)
        }
        if fulfilment.isImported { json.member("imported", true) }
        if fulfilment.isReversed {
            json.member("reversed_percentage", fulfilment.reversed)
            json.member("reversed_at", fulfilment.reversedAt)
        }
        if showsGoods, !fulfilment.goods.isEmpty {
            json.array("goods") { json in
                for goods in fulfilment.goodsByNow { json.object { write(goods, of: fulfilment, into: &$0) } }
            }
        }
        json.member("decided_at", fulfilment.decidedAt)
    }

    private static func write(_ goods: GrantedGoods, of fulfilment: Fulfilment, into json: inout JSONObjectWriter) {
        switch goods {
        case .entitlement(let id, let until):
            json.member("entitlement", id.text)
            json.member("until", until)
        case .amount(let amount):
            json.member("currency", amount.currency.text)
            json.member("amount", amount.amount)
            if amount.reversed > 0 { json.member("reversed", amount.reversed) }
            if amount.uncollected > 0 { json.member("uncollected", amount.uncollected) }
            if fulfilment.isReversed { json.member("left", amount.left) }
        }
    }
}
