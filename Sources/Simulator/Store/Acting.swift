import PurchaseModel

extension SimulatedStore {
    /// Does what somebody wants, now, or a millisecond after what was done before: whoever goes by dates can tell which came
    /// first. A refusal changes nothing, and takes no time.
    package mutating func perform(_ act: Act) throws(ActRefusal) -> ActOutcome {
        let before = now
        if let last = lastActAt, last >= now {
            moveOn(to: min(last.advanced(by: Self.step), StoreTime.range.upperBound))
        }
        do throws(ActRefusal) {
            let outcome = try performAtOnce(act)
            lastActAt = now
            return outcome
        } catch {
            moveOn(to: before)
            throw error
        }
    }

    /// The shortest time that a date can tell.
    private static let step = Duration.milliseconds(1)

    private mutating func performAtOnce(_ act: Act) throws(ActRefusal) -> ActOutcome {
        switch act {
        case .buy(let purchase): return try buy(purchase)
        case .answerAskToBuy(let customer, let isApproved):
            return try answerAskToBuy(customer, isApproved: isApproved)
        case .setPayment(let customer, let works): return try setPayment(customer, works: works)
        case .setFamily(let customer, let family): return try setFamily(customer, family)
        case .rescindConsent(let customer, let app): return try rescindConsent(customer, app)
        case .createExternalPurchase(let app, let environment, let kind):
            return try createExternalPurchase(app, environment, kind)
        case .requestTestNotification(let app, let environment): return try requestTest(app, environment)
        case .raisePrice(let rise): return try raisePrice(rise)
        case .setForSale(let app, let product, let isOn): return try setForSale(app, product, isOn)
        case .extendAll(let request): return try extendAll(request)
        default: return try performOnPurchase(act)
        }
    }

    private mutating func performOnPurchase(_ act: Act) throws(ActRefusal) -> ActOutcome {
        switch act {
        case .finish(let id): return try change(id) { $0.isFinished = true }
        case .setAutoRenew(let subscription, let isOn): return try setAutoRenew(subscription, isOn)
        case .changePlan(let subscription, let product): return try changePlan(subscription, to: product)
        case .redeemOffer(let subscription, let offer): return try redeem(offer, on: subscription)
        case .answerPriceRise(let subscription, let isAccepted):
            return try answerPriceRise(subscription, isAccepted)
        case .end(let subscription): return try end(subscription)
        case .announceAdvancedCommerce(let subscription, let change): return try announce(change, of: subscription)
        case .askRefund(let request): return try askRefund(request)
        case .decideRefund(let id, let decision): return try decideRefund(id, decision)
        case .reverseRefund(let id): return try reverseRefund(id)
        case .setSharing(let id, let isOn): return try setSharing(id, isOn)
        case .extend(let id, let terms): return try extend(id, terms)
        case .setAccountToken(let id, let token): return try setAccountToken(id, token)
        case .sendConsumption(let id, let consumption):
            guard transactions[id] != nil else { throw .unknownTransaction }
            consumptions[id, default: []].append(consumption)
            return .done([id])
        default: preconditionFailure("\(act) was not meant for a purchase")
        }
    }

    // MARK: Shared by the acts

    func customer(_ name: String) throws(ActRefusal) -> StoreCustomer {
        guard let customer = customers[name] else { throw .unknownCustomer }
        return customer
    }

    func app(_ id: BundleID) throws(ActRefusal) -> StoreApp {
        guard let app = apps[id] else { throw .unknownApp }
        return app
    }

    func product(_ id: ProductID, of app: StoreApp) throws(ActRefusal) -> StoreProduct {
        guard let product = app.products[id] else { throw .unknownProduct }
        return product
    }

    func sold(_ id: TransactionID) throws(ActRefusal) -> SoldTransaction {
        guard let transaction = transactions[id] else { throw .unknownTransaction }
        return transaction
    }

    /// The customer's own or shared subscription in the product's group, whatever became of it.
    func line(_ subscription: Act.Subscription) throws(ActRefusal) -> SubscriptionLine {
        _ = try customer(subscription.customer)
        let app = try app(subscription.app)
        guard let group = try product(subscription.product, of: app).group else { throw .notASubscription }
        guard let line = line(of: subscription.customer, subscription.app, group: group) else { throw .notSubscribed }
        return line
    }

    /// Her own line before one that is shared with her.
    func line(of customer: String, _ app: BundleID, group: String) -> SubscriptionLine? {
        let all = lines(of: Owner(customer: customer, app: app)).filter { $0.group == group }
        return all.last { $0.sharedFrom == nil } ?? all.last
    }

    /// The product of the line's newest transaction.
    func product(of line: SubscriptionLine) -> StoreProduct? {
        transactions[line.current].flatMap { apps[line.app]?.products[$0.fact.product] }
    }

    mutating func change(
        _ id: TransactionID,
        _ body: (inout SoldTransaction) -> Void
    ) throws(ActRefusal) -> ActOutcome {
        var transaction = try sold(id)
        body(&transaction)
        transactions[id] = transaction
        return .done([id])
    }

    /// Changes a transaction in a way that Apple's history counts as a change.
    mutating func modify(_ id: TransactionID, _ body: (inout SoldTransaction) -> Void) {
        guard var transaction = transactions[id] else { return }
        body(&transaction)
        transaction.modifiedAt = now
        changesCount += 1
        transaction.changeNumber = changesCount
        transaction.fact.signedAt = now
        transactions[id] = transaction
    }

    /// Notes what Apple would tell the merchant of a transaction and, of a subscription, of its line.
    mutating func notify(
        _ type: NoticeType,
        _ subtype: String? = nil,
        _ id: TransactionID,
        consumptionReason: String? = nil
    ) {
        guard let transaction = transactions[id] else { return }
        let line = transaction.isSubscription ? lines[transaction.originalID] : nil
        let subject = StoreNotice.Purchase(
            transaction: transaction,
            line: line,
            outlook: line.map { outlook(of: $0) },
            status: line.map { status(of: $0) },
            consumptionReason: consumptionReason
        )
        note(type, subtype, transaction.app, transaction.environment, .purchase(subject))
    }

    @discardableResult
    mutating func note(
        _ type: NoticeType,
        _ subtype: String?,
        _ app: BundleID,
        _ environment: StoreEnvironment,
        _ subject: StoreNotice.Subject
    ) -> String {
        let uuid = numbers.uuid()
        notices.append(
            StoreNotice(
                uuid: uuid,
                type: type,
                subtype: subtype,
                at: now,
                app: app,
                environment: environment,
                subject: subject
            )
        )
        return uuid
    }
}
