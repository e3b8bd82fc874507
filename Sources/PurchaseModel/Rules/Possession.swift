/// What may be called bought in words that know neither waiting nor withholding, as other protocols have them.
extension Fulfilment {
    /// Whether it was given and is not taken back; what is nobody's yet is whoever's who shows it, if it would be given to anybody.
    /// What waits for anything else was not delivered, and may never be.
    ///
    /// - Parameters:
    ///   - terms: of the app, as they are now.
    ///   - now: the moment.
    /// - Returns: false for what must not be called bought.
    package func isPossessed(under terms: AppTerms, at now: Timestamp) -> Bool {
        switch (state, reason) {
        case (.granted, _): true
        case (.partlyReversed, _): isPartlyLeft
        case (.waiting, .noCustomer), (.waiting, .fromHistory):
            !terms.needsOrder && (transaction.realm.environment == .production || terms.sandbox.deliversToAll(at: now))
        default: false
        }
    }

    /// Whether a part was taken back and the customer has the rest: of what is used up. What gives access, and what is bought
    /// for good or for a period, is over, whatever is left of its amounts.
    package var isPartlyLeft: Bool {
        state == .partlyReversed && restorable == nil && !goods.contains(where: \.isEntitlement)
    }

    /// Until when something lasts whose end Apple does not know; `nil` is for ever.
    ///
    /// - Parameters:
    ///   - terms: say it of what nothing was given for yet.
    ///   - quantity: how many were bought at once.
    /// - Returns: the end of what lasts longest.
    package func end(under terms: AppTerms, quantity: Int) -> Timestamp? {
        guard isGiven else {
            guard let product = terms.products?[product], product.kind == .nonRenewing else { return nil }
            return product.period.map { purchasedAt.advanced(by: $0.times(quantity)) }
        }
        var last: Timestamp?
        for case .entitlement(_, let until) in goodsByNow {
            guard let until else { return nil }
            last = max(last ?? until, until)
        }
        return last
    }
}

extension SandboxRule {
    fileprivate func deliversToAll(at now: Timestamp) -> Bool {
        guard case .everybody(let end) = self else { return false }
        return now < end
    }
}
