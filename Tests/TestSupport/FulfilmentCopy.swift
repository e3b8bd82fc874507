package import PurchaseModel

extension Fulfilment {
    /// The same row but for what is changed in it, whatever a rule would make of it.
    package func copy(changing change: (inout Stored) -> Void) -> Fulfilment {
        var stored = Stored(
            transaction: transaction,
            original: original,
            product: product,
            quantity: quantity,
            purchasedAt: purchasedAt,
            state: state,
            decidedAt: decidedAt,
            version: version
        )
        stored.accountToken = accountToken
        stored.customer = customer
        stored.reason = reason
        stored.unit = unit
        stored.order = order
        stored.match = match
        stored.goods = goods
        stored.reversed = reversed
        stored.reversedAt = reversedAt
        stored.delivery = delivery
        stored.fence = fence
        stored.importedFence = importedFence
        stored.isImported = isImported
        stored.booksClosedAt = booksClosedAt
        stored.isOfHistory = isOfHistory
        change(&stored)
        return Fulfilment(stored: stored)
    }
}
