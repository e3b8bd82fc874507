// What Apple's statements about one chain's renewal come to, in whatever order they are heard.

/// Of two statements about one chain's renewal the one that Apple signed later: what it leaves out does not hold any more.
/// Of two that were signed at one moment the one of the later start: one of them says how the subscription ended, the other
/// that it began anew.
///
/// Where the later one tells less than Apple signs, the newest that told all stays beside it. Any order of any number of them,
/// also of some of them repeated, comes to the same.
package func fold(_ known: Renewal?, _ fresh: Renewal) -> Renewal {
    guard let known else { return fresh }
    var newest = later(known, fresh)
    guard newest.telling != .all else { return newest }
    switch (known.full, fresh.full) {
    case (let one?, let two?): newest.telling = .less(than: later(one, two))
    case (let one, let two): newest.telling = .less(than: one ?? two)
    }
    return newest
}

private func later(_ known: Renewal, _ fresh: Renewal) -> Renewal {
    if known.signedAt != fresh.signedAt { return known.signedAt < fresh.signedAt ? fresh : known }
    // One that does not say is before all that do, so that any three have an order.
    let (one, two) = (known.recentStartAt?.milliseconds ?? .min, fresh.recentStartAt?.milliseconds ?? .min)
    if one != two { return one < two ? fresh : known }
    return known.precedence.lexicographicallyPrecedes(fresh.precedence) ? fresh : known
}

extension Renewal {
    /// Orders statements that Apple signed at one moment: that it has ended counts. Beyond that any order does that does not
    /// ask which of them came first.
    fileprivate var precedence: [UInt8] {
        let numbers: [Int64?] = [
            isOver ? 1 : 0, isInBillingRetry.map { $0 ? 1 : 0 }, expirationIntent.map(Int64.init),
            graceEndsAt?.milliseconds,
            renewsAt?.milliseconds, willAutoRenew.map { $0 ? 1 : 0 }, priceIncreaseStatus.map(Int64.init),
            nextPrice?.milliunits, (offer?.kind.rawValue).map(Int64.init),
            (nextCommitment?.willRenew).map { $0 ? 1 : 0 }, nextCommitment?.beginsAt?.milliseconds,
        ]
        let texts: [String?] = [
            product.text, nextProduct?.text, nextPrice?.currency, offer?.identifier, offer?.discount, offer?.period,
            accountToken?.description, environment?.rawValue,
            winBackOffers.isEmpty ? nil : winBackOffers.joined(separator: "\n"), nextBillingPlan,
            nextCommitment?.product?.text, nextCommitment?.billingPlan,
            // Of two that are the same in all else the one that tells all.
            telling == .all ? "all" : nil,
        ]
        let parts = numbers.map { $0.map(String.init) } + texts
        return Array(parts.map { $0.map { "+" + $0 } ?? "" }.joined(separator: "\0").utf8)
    }
}

// What holds by a statement that tells less than Apple signs.
extension Renewal {
    /// What holds by it while a period is the newest one; `nil` while there is none. See ``filled(until:in:)``.
    func filled(about period: Transaction?) -> Renewal { filled(until: period?.expiresAt, in: period) }

    /// What holds by it: itself, and what it could not tell by the full one beside it, as long as both are about the same
    /// renewal, and say alike what comes next and whether it does. What was said of a commitment holds until that ends, and
    /// what was said of a higher price whether or not it renews.
    ///
    /// `renewsAt` is not filled in: nobody has said then which end it is about, and the rules go by when it was signed.
    ///
    /// - Parameters:
    ///   - end: of the newest period; `nil` where it is not known.
    ///   - period: the newest one, which may be of a commitment; `nil` where it does not matter.
    /// - Returns: the statement itself where it tells all, where nothing stands beside it, and where the two differ.
    func filled(until end: Timestamp?, in period: Transaction? = nil) -> Renewal {
        guard case .less(let full?) = telling, product == full.product,
            (nextProduct ?? product) == (full.nextProduct ?? full.product)
        else { return self }
        var found = self
        if nextCommitment == nil, holds(full.nextCommitment, of: full, in: period) {
            found.nextCommitment = full.nextCommitment
        }
        guard let renewsAt = full.renewsAt, end.map({ $0.seconds == renewsAt.seconds }) ?? true else { return found }
        let hasEnded = isOver || full.isOver
        let isAhead = !hasEnded && (signedAt < renewsAt || isRetrying)
        if isAhead { found.priceIncreaseStatus = priceIncreaseStatus ?? full.priceIncreaseStatus }
        guard willAutoRenew == full.willAutoRenew else { return found }
        if isAhead { found.takePlan(of: full) }
        guard isOver, full.isOver, expirationIntent == full.expirationIntent else { return found }
        found.recentStartAt = recentStartAt ?? full.recentStartAt
        if winBackOffers.isEmpty { found.winBackOffers = full.winBackOffers }
        return found
    }

    /// Who lets a commitment run out says so by it alone until its last month, which is not charged for anew.
    private func holds(_ next: NextCommitment?, of full: Renewal, in period: Transaction?) -> Bool {
        guard let next, let beginsAt = next.beginsAt, signedAt < beginsAt,
            period?.commitmentEndsAt.map({ $0.seconds == beginsAt.seconds }) ?? true,
            // One that is paid for otherwise is of none; a receipt does not say how.
            period?.billingPlan.map({ $0 == SubscriptionRules.monthlyPlan }) ?? true
        else { return false }
        return willAutoRenew == full.willAutoRenew || willAutoRenew == false && next.willRenew == false
    }

    /// For the renewal that comes next. Another offer, or another answer to a higher price, makes another price of it.
    private mutating func takePlan(of full: Renewal) {
        recentStartAt = recentStartAt ?? full.recentStartAt
        nextBillingPlan = nextBillingPlan ?? full.nextBillingPlan
        guard hasOffer(of: full) else { return }
        offer = full.offer
        if priceIncreaseStatus == full.priceIncreaseStatus { nextPrice = nextPrice ?? full.nextPrice }
    }

    /// Whether it renews by the same offer. verifyReceipt names those that are promotional and of a code, so that it renews by
    /// none of these where it names none.
    private func hasOffer(of full: Renewal) -> Bool {
        guard let offer else { return full.offer.map { [.introductory, .winBack].contains($0.kind) } ?? true }
        return offer.kind == full.offer?.kind && offer.identifier == full.offer?.identifier
    }
}
