import PurchaseModel

// What happens by itself at the end of a period, and while Apple tries to charge.
extension SimulatedStore {
    mutating func periodEnds(_ id: TransactionID) {
        // A family member's line goes with the purchaser's. One that was extended, renewed or refunded has another end.
        // One that was paid late, for a period shorter than the grace, has its end behind it.
        guard let line = lines[id], line.sharedFrom == nil, line.expiresAt <= now, !line.hasExpired,
            line.failure == nil, transactions[line.current]?.isRevoked == false,
            let customer = customers[line.customer], let app = apps[line.app]
        else { return }
        guard line.willAutoRenew else { return expire(id, .cancelled, "VOLUNTARY") }
        if let most = customer.rate.renewalsMax, line.renewalsCount >= most {
            // The sandbox's limit looks like a cancellation.
            lines[id]?.willAutoRenew = false
            return expire(id, .cancelled, "VOLUNTARY")
        }
        guard let product = app.products[line.nextProduct], product.isForSale else {
            return expire(id, .productUnavailable, "PRODUCT_NOT_FOR_SALE")
        }
        if let increase = line.priceIncrease, increase.needsConsent, !increase.isAccepted {
            return expire(id, .noConsent, "PRICE_INCREASE")
        }
        guard customer.canPay else { return fail(id, customer, app) }
        renew(id, from: line.expiresAt)
        tell(id, .didRenew)
    }

    mutating func graceEnds(_ id: TransactionID) {
        guard let line = lines[id], !line.hasExpired, line.failure?.graceEndsAt == now else { return }
        tell(id, .gracePeriodExpired)
    }

    mutating func retryEnds(_ id: TransactionID) {
        guard let line = lines[id], !line.hasExpired, line.failure?.retriesUntil == now else { return }
        lines[id]?.willAutoRenew = false
        expire(id, .billingError, "BILLING_RETRY")
    }

    /// Her way of paying works, or does not. What could not be charged is charged as soon as it does.
    mutating func setPayment(_ name: String, works: Bool) throws(ActRefusal) -> ActOutcome {
        _ = try customer(name)
        customers[name]?.canPay = works
        guard works else { return .done([]) }
        var renewed: [TransactionID] = []
        for line in owners(name).flatMap({ lines(of: $0) }).sorted(by: { $0.originalID < $1.originalID })
        where line.sharedFrom == nil && line.failure != nil && !line.hasExpired {
            // Inside the grace period the billing cycle stays; later a new one begins.
            renew(line.originalID, from: status(of: line) == .gracePeriod ? line.expiresAt : now)
            tell(line.originalID, .didRenew, "BILLING_RECOVERY")
            if let current = lines[line.originalID]?.current { renewed.append(current) }
        }
        return .done(renewed)
    }

    /// Sells the next period.
    private mutating func renew(_ id: TransactionID, from start: Timestamp) {
        guard var line = lines[id], let customer = customers[line.customer], let app = apps[line.app],
            let product = app.products[line.nextProduct]
        else { return }
        let offer = line.pendingOffer
        let transaction = numbers.transactionID(in: line.environment)
        var fact = fact(transaction, originalID: id, product, customer, at: start)
        fact.expiresAt = end(of: product, offer, from: start, customer.rate)
        fact.accountToken = line.accountToken
        fact.price = offer?.price ?? product.price(in: customer.storefront)
        fact.offer = offer?.fact
        record(fact, customer, app, .renewal)
        if start > line.expiresAt { line.recentStartAt = recentStart(after: line, customer.rate) }
        line.current = transaction
        line.expiresAt = fact.expiresAt ?? start
        line.failure = nil
        line.expirationIntent = nil
        line.renewalsCount += 1
        line.priceIncrease = nil
        if line.pendingOfferCount > 1 {
            line.pendingOfferCount -= 1
        } else {
            line.pendingOffer = nil
            line.pendingOfferCount = 0
        }
        lines[id] = line
        agenda.plan(.periodEnds(line: id), at: line.expiresAt)
        follow(id)
    }

    /// The renewal could not be charged: grace if the merchant wants it, and Apple tries for weeks.
    private mutating func fail(_ id: TransactionID, _ customer: StoreCustomer, _ app: StoreApp) {
        guard let line = lines[id], let current = transactions[line.current], let product = product(of: line) else {
            return
        }
        let wasTrial = current.fact.offer?.discount == StoreOffer.Mode.freeTrial.rawValue
        var graceEndsAt: Timestamp?
        if let grace = app.gracePeriod, grace.coversTrials || !wasTrial, let period = product.period {
            graceEndsAt = now.advanced(by: customer.rate.grace(grace, of: period))
        }
        let retriesUntil = now.advanced(by: customer.rate.billingRetry)
        lines[id]?.failure = SubscriptionLine.BillingFailure(
            since: now,
            graceEndsAt: graceEndsAt,
            retriesUntil: retriesUntil
        )
        lines[id]?.expirationIntent = .billingError
        if let graceEndsAt { agenda.plan(.graceEnds(line: id), at: graceEndsAt) }
        agenda.plan(.retryEnds(line: id), at: retriesUntil)
        follow(id)
        tell(id, .didFailToRenew, graceEndsAt == nil ? nil : "GRACE_PERIOD")
    }

    mutating func expire(_ id: TransactionID, _ intent: SubscriptionLine.ExpirationIntent, _ subtype: String?) {
        lines[id]?.hasExpired = true
        lines[id]?.expirationIntent = intent
        if intent != .billingError { lines[id]?.failure = nil }
        lines[id]?.willAutoRenew = false
        lines[id]?.pendingOffer = nil
        lines[id]?.pendingOfferCount = 0
        follow(id)
        tell(id, .expired, subtype)
    }

    /// Tells of a subscription, and of each copy that a family member has.
    mutating func tell(_ id: TransactionID, _ type: NoticeType, _ subtype: String? = nil) {
        guard let line = lines[id] else { return }
        notify(type, subtype, line.current)
        for member in membersLines(of: id) where transactions[member.current]?.isRevoked == false {
            notify(type, subtype, member.current)
        }
    }
}
