/// How a recorded transaction stands for its own customer.
///
/// - Parameters:
///   - recorded: the transaction.
///   - fulfilment: what became of it, where that is known: of what was refunded in part it says whether anything is left, and
///     it knows what was taken back by another number of the purchase.
///   - terms: of the app, as they are now: they say the same of what is still to be given.
/// - Returns: how it stands.
package func standing(
    of recorded: RecordedTransaction,
    _ fulfilment: Fulfilment?,
    under terms: AppTerms
) -> Standing {
    guard recorded.isRevoked else {
        if recorded.isUpgraded { return .upgraded }
        return switch (fulfilment?.state, fulfilment?.reason) {
        case (.reversed, _), (.withheld, .revoked): .revoked
        case (.partlyReversed, _): .partlyRevoked
        default: .recorded
        }
    }
    if let fulfilment, fulfilment.isGiven { return fulfilment.state == .partlyReversed ? .partlyRevoked : .revoked }
    let (transaction, product) = (recorded.transaction, terms.products?[recorded.transaction.product])
    if transaction.isPartlyTakenBack { return .partlyRevoked }
    let isPart = transaction.takenBack.map { $0.share < Fulfilment.whole } ?? false
    let isAwaited = fulfilment?.state == .waiting && product?.goods.allSatisfy(\.isEntitlement) == false
    return isPart && isAwaited ? .partlyRevoked : .revoked
}

extension Goods {
    fileprivate var isEntitlement: Bool {
        if case .entitlement = self { true } else { false }
    }
}
