import PurchaseModel

extension Audit {
    /// A paid order has one payment, which is for what it asks; no payment has two orders, and no order two payments.
    func checkOrders() {
        var payments: Set<TransactionKey> = []
        for order in store.orders.values {
            guard let payment = order.payment else {
                let isOpen = [.pending, .expired, .cancelled].contains(order.state)
                expect(isOpen, "I4 orders are settled once", "\(order.id) is \(order.state) without a payment")
                continue
            }
            let key = TransactionKey(app: order.app, realm: payment.realm, id: payment.transaction)
            expect(payments.insert(key).inserted, "I4 orders are settled once", "\(key.id) pays two orders")
            let row = store.fulfilments[key]
            expect(
                row?.order == order.id && row?.product == order.product && row?.quantity == order.quantity
                    && row?.customer == order.customer,
                "I4 orders are settled once",
                "\(key.id) does not fit \(order.id)"
            )
            expect(
                (order.state == .refunded) == (row?.state == .reversed)
                    && [.paid, .delivered, .refunded].contains(order.state),
                "I4 orders are settled once",
                "\(order.id) is \(order.state)"
            )
        }
        let settled = store.fulfilments.values.compactMap(\.order)
        expect(Set(settled).count == settled.count, "I4 orders are settled once", "two transactions pay one order")
    }
}
