import PurchaseModel

// What a subscriber changes about her subscription.
extension SimulatedStore {
    mutating func setAutoRenew(_ subscription: Act.Subscription, _ isOn: Bool) throws(ActRefusal) -> ActOutcome {
        let line = try line(subscription)
        guard line.sharedFrom == nil else { throw .familyShared }
        let status = status(of: line)
        guard status != .expired, status != .revoked else { throw .notSubscribed }
        guard line.willAutoRenew != isOn else { return .done([]) }
        lines[line.originalID]?.willAutoRenew = isOn
        follow(line.originalID)
        tell(line.originalID, .didChangeRenewalStatus, isOn ? "AUTO_RENEW_ENABLED" : "AUTO_RENEW_DISABLED")
        // While Apple tries to charge, giving up is the end at once.
        if !isOn, line.failure != nil {
            lines[line.originalID]?.endedInGrace = status == .gracePeriod
            expire(line.originalID, .cancelled, "VOLUNTARY")
        }
        return .done([line.current])
    }

    /// - Parameters:
    ///   - subscription: whose plan it is.
    ///   - wanted: the new plan.
    ///   - offer: under which it is bought.
    ///   - token: what the app gave the store with the purchase; a change that begins later is none yet, and has the old one.
    /// - Returns: what came of it.
    /// - Throws: why it cannot be changed.
    mutating func changePlan(
        _ subscription: Act.Subscription,
        to wanted: ProductID,
        offer: StoreOffer? = nil,
        token: AccountToken? = nil
    ) throws(ActRefusal) -> ActOutcome {
        let line = try line(subscription)
        guard line.sharedFrom == nil else { throw .familyShared }
        guard status(of: line) == .active, let current = product(of: line) else { throw .notSubscribed }
        let target = try product(wanted, of: app(subscription.app))
        guard target.group == line.group else { throw .otherGroup }
        guard target.isForSale else { throw .notForSale }
        if target.id == current.id {
            guard line.nextProduct != current.id else { throw .alreadyOwned }
            lines[line.originalID]?.nextProduct = current.id
            // An offer of the plan that she gave up goes with it.
            if let offer = line.pendingOffer, !current.offers.contains(offer) { lines[line.originalID]?.plan(nil) }
            follow(line.originalID)
            tell(line.originalID, .didChangeRenewalPreference)
            return .done([line.current])
        }
        if isAtOnce(from: current, to: target) {
            guard customers[line.customer]?.canPay == true else { throw .paymentDeclined }
            let id = replace(line, with: target, offer, token)
            let type: NoticeType = offer == nil ? .didChangeRenewalPreference : .offerRedeemed
            tell(line.originalID, type, "UPGRADE")
            return .done([line.current, id])
        }
        lines[line.originalID]?.nextProduct = target.id
        lines[line.originalID]?.willAutoRenew = true
        lines[line.originalID]?.plan(offer)
        follow(line.originalID)
        tell(line.originalID, offer == nil ? .didChangeRenewalPreference : .offerRedeemed, "DOWNGRADE")
        return .done([line.current])
    }

    /// Ends a subscription for a reason that has no name.
    mutating func end(_ subscription: Act.Subscription) throws(ActRefusal) -> ActOutcome {
        let line = try line(subscription)
        guard line.sharedFrom == nil else { throw .familyShared }
        guard !line.hasExpired, transactions[line.current]?.isRevoked == false else { throw .notSubscribed }
        expire(line.originalID, .other, nil)
        return .done([line.current])
    }

    /// Redeems a promotional offer, an offer code or a win-back offer.
    mutating func redeem(
        _ identifier: String,
        on subscription: Act.Subscription,
        token: AccountToken? = nil
    ) throws(ActRefusal) -> ActOutcome {
        let app = try app(subscription.app)
        let product = try product(subscription.product, of: app)
        guard let group = product.group else { throw .notASubscription }
        guard let offer = product.offer(identifier) else { throw .unknownOffer }
        let line = line(of: subscription.customer, subscription.app, group: group)
        guard let line, line.sharedFrom == nil, isRunning(line) else {
            var purchase = Act.Purchase(
                customer: subscription.customer,
                app: subscription.app,
                product: subscription.product
            )
            purchase.offer = identifier
            purchase.accountToken = token
            return try buy(purchase)
        }
        guard offer.kind == .promotional || offer.kind == .offerCode else { throw .notEligible }
        guard self.product(of: line)?.id == product.id else {
            return try changePlan(subscription, to: product.id, offer: offer, token: token)
        }
        lines[line.originalID]?.nextProduct = product.id
        lines[line.originalID]?.willAutoRenew = true
        lines[line.originalID]?.plan(offer)
        follow(line.originalID)
        tell(line.originalID, .offerRedeemed)
        return .done([line.current])
    }

    mutating func answerPriceRise(
        _ subscription: Act.Subscription,
        _ isAccepted: Bool
    ) throws(ActRefusal) -> ActOutcome {
        let line = try line(subscription)
        guard line.priceIncrease?.needsConsent == true, line.priceIncrease?.isAccepted == false else {
            throw .nothingWaits
        }
        guard isAccepted else { return try setAutoRenew(subscription, false) }
        lines[line.originalID]?.priceIncrease?.isAccepted = true
        // Who does not pay was not asked, and is not told.
        notify(.priceIncrease, "ACCEPTED", line.current)
        return .done([line.current])
    }

    /// A higher level, or the same level for as long a period, begins at once.
    private func isAtOnce(from current: StoreProduct, to target: StoreProduct) -> Bool {
        if target.level != current.level { return target.level < current.level }
        return target.period?.nominalDays == current.period?.nominalDays
    }

    /// Ends the running period early and sells a whole new one. The rest of the old one is paid back by Apple.
    private mutating func replace(
        _ line: SubscriptionLine,
        with product: StoreProduct,
        _ offer: StoreOffer?,
        _ token: AccountToken?
    ) -> TransactionID {
        guard let customer = customers[line.customer], let app = apps[line.app] else { return line.current }
        let id = numbers.transactionID(in: line.environment)
        var fact = fact(id, originalID: line.originalID, product, customer, at: now)
        fact.expiresAt = end(of: product, offer, from: now, customer.rate)
        fact.accountToken = token ?? line.accountToken
        fact.price = offer?.price ?? product.price(in: customer.storefront)
        fact.offer = offer?.fact
        modify(line.current) { $0.fact.isUpgraded = true }
        record(fact, customer, app, .purchase)
        var changed = line
        changed.current = id
        changed.nextProduct = product.id
        changed.accountToken = fact.accountToken
        changed.willAutoRenew = true
        changed.expiresAt = fact.expiresAt ?? now
        changed.priceIncrease = nil
        changed.renewalsCount = 0
        changed.take(offer)
        lines[line.originalID] = changed
        agenda.plan(.periodEnds(line: line.originalID), at: changed.expiresAt)
        follow(line.originalID)
        return id
    }
}

extension SubscriptionLine {
    /// An offer that the next renewals will have.
    mutating func plan(_ offer: StoreOffer?) {
        pendingOffer = offer
        pendingOfferCount = offer?.periodCount ?? 0
    }
}
