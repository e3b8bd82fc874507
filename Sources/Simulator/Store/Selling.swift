import PurchaseModel

// Buying, asking to buy, and what one sale writes into the ledger.
extension SimulatedStore {
    mutating func buy(_ purchase: Act.Purchase, isApproved: Bool = false) throws(ActRefusal) -> ActOutcome {
        let customer = try customer(purchase.customer)
        let app = try app(purchase.app)
        let product = try product(purchase.product, of: app)
        guard product.isForSale else { throw .notForSale }
        let quantities = product.kind == .consumable || product.kind == .nonRenewing ? 1...10 : 1...1
        guard quantities.contains(purchase.quantity) else { throw .quantityOutOfRange }
        if product.kind == .autoRenewable {
            let owned = product.group.flatMap { line(of: customer.name, app.bundleID, group: $0) }
            if let owned, owned.sharedFrom == nil, isRunning(owned) { return try buyAgain(purchase, product, owned) }
        } else if product.kind == .nonConsumable, owns(product.id, customer.name, app.bundleID) {
            throw .alreadyOwned
        }
        let offer = try offer(of: purchase, product, customer)
        if customer.asksToBuy, !isApproved {
            waiting.append(purchase)
            return .waits
        }
        guard customer.canPay else { throw .paymentDeclined }
        let id =
            product.kind == .autoRenewable
            ? subscribe(customer, app, product, offer, purchase.accountToken)
            : sellOnce(purchase, customer, app, product, offer)
        return .done([id])
    }

    mutating func answerAskToBuy(_ name: String, isApproved: Bool) throws(ActRefusal) -> ActOutcome {
        _ = try customer(name)
        guard let index = waiting.firstIndex(where: { $0.customer == name }) else { throw .nothingWaits }
        let purchase = waiting[index]
        guard isApproved else {
            waiting.remove(at: index)
            return .done([])
        }
        let outcome = try buy(purchase, isApproved: true)
        waiting.remove(at: index)
        return outcome
    }

    /// In the group of a subscription that runs, buying is changing the plan.
    private mutating func buyAgain(
        _ purchase: Act.Purchase,
        _ product: StoreProduct,
        _ line: SubscriptionLine
    ) throws(ActRefusal) -> ActOutcome {
        let subscription = Act.Subscription(customer: purchase.customer, app: purchase.app, product: product.id)
        let token = purchase.accountToken
        if let offer = purchase.offer { return try redeem(offer, on: subscription, token: token) }
        guard self.product(of: line)?.id != product.id || line.nextProduct != product.id else { throw .alreadyOwned }
        return try changePlan(subscription, to: product.id, token: token)
    }

    /// Paid service goes on, or access does while Apple tries to charge.
    func isRunning(_ line: SubscriptionLine) -> Bool {
        let status = status(of: line)
        return status == .active || status == .gracePeriod
    }

    private func owns(_ product: ProductID, _ customer: String, _ app: BundleID) -> Bool {
        transactions(of: Owner(customer: customer, app: app)).contains {
            $0.fact.product == product && !$0.isRevoked && $0.fact.ownership != .familyShared
        }
    }

    /// The offer that a purchase has: the one that is named, or the introductory one that she has not had yet.
    private func offer(
        of purchase: Act.Purchase,
        _ product: StoreProduct,
        _ customer: StoreCustomer
    ) throws(ActRefusal) -> StoreOffer? {
        guard let identifier = purchase.offer else {
            guard let group = product.group, !customer.usedIntroductions.contains(group) else { return nil }
            return product.introductoryOffer
        }
        guard let offer = product.offer(identifier) else { throw .unknownOffer }
        let past = product.group.flatMap { line(of: customer.name, purchase.app, group: $0) }
        switch offer.kind {
        case .introductory:
            guard let group = product.group, !customer.usedIntroductions.contains(group) else { throw .notEligible }
        case .promotional:
            guard let past, past.sharedFrom == nil else { throw .notEligible }
        case .winBack:
            guard let past, winBackOffers(of: past).contains(offer) else { throw .notEligible }
        default: break
        }
        return offer
    }

    private mutating func sellOnce(
        _ purchase: Act.Purchase,
        _ customer: StoreCustomer,
        _ app: StoreApp,
        _ product: StoreProduct,
        _ offer: StoreOffer?
    ) -> TransactionID {
        let id = numbers.transactionID(in: customer.environment)
        var fact = fact(id, originalID: id, product, customer, at: now)
        fact.quantity = purchase.quantity
        fact.accountToken = purchase.accountToken
        let unit = offer?.price ?? product.price(in: customer.storefront)
        fact.price = Price(milliunits: unit.milliunits * Int64(purchase.quantity), currency: unit.currency)
        fact.offer = offer?.fact
        record(fact, customer, app, .purchase)
        notify(.oneTimeCharge, nil, id)
        if product.isFamilyShareable { share(id) }
        return id
    }

    /// A first subscription in the group, or one after the last has ended.
    mutating func subscribe(
        _ customer: StoreCustomer,
        _ app: StoreApp,
        _ product: StoreProduct,
        _ offer: StoreOffer?,
        _ token: AccountToken?
    ) -> TransactionID {
        let group = product.group ?? ""
        let past = line(of: customer.name, app.bundleID, group: group).flatMap { $0.sharedFrom == nil ? $0 : nil }
        let id = numbers.transactionID(in: customer.environment)
        let originalID = past?.originalID ?? id
        let end = end(of: product, offer, from: now, customer.rate)
        var fact = fact(id, originalID: originalID, product, customer, at: now)
        fact.expiresAt = end
        fact.accountToken = token ?? past?.accountToken
        fact.price = offer?.price ?? product.price(in: customer.storefront)
        fact.offer = offer?.fact
        record(fact, customer, app, .purchase)
        var line = SubscriptionLine(
            originalID: originalID,
            customer: customer.name,
            app: app.bundleID,
            environment: customer.environment,
            group: group,
            current: id,
            nextProduct: product.id,
            accountToken: fact.accountToken,
            recentStartAt: recentStart(after: past, customer.rate),
            expiresAt: end
        )
        line.extensions = past?.extensions ?? []
        line.extensionRequests = past?.extensionRequests ?? []
        line.take(offer)
        begin(line)
        if offer?.kind == .introductory { customers[customer.name]?.usedIntroductions.insert(group) }
        agenda.plan(.periodEnds(line: originalID), at: end)
        notify(.subscribed, past == nil ? "INITIAL_BUY" : "RESUBSCRIBE", id)
        if product.isFamilyShareable { share(id) }
        return id
    }

    /// Puts a line where it belongs, a new one or one that begins again.
    mutating func begin(_ line: SubscriptionLine) {
        if lines[line.originalID] == nil {
            subscribed[Owner(customer: line.customer, app: line.app), default: []].append(line.originalID)
        }
        lines[line.originalID] = line
    }

    /// The old start, unless paid service was missing for too long.
    func recentStart(after past: SubscriptionLine?, _ rate: TimeRate) -> Timestamp {
        guard let past else { return now }
        // A failed renewal is a gap from the failure on.
        let servedUntil = past.failure?.since ?? past.expiresAt
        return servedUntil.duration(to: now) > rate.freshStartGap ? now : past.recentStartAt
    }

    /// When a period ends that begins now under an offer, or without one.
    func end(of product: StoreProduct, _ offer: StoreOffer?, from start: Timestamp, _ rate: TimeRate) -> Timestamp {
        guard let period = offer?.period ?? product.period else { return start }
        return rate.end(of: period, from: start)
    }

    /// A transaction in its first state; the caller adds what is particular.
    func fact(
        _ id: TransactionID,
        originalID: TransactionID,
        _ product: StoreProduct,
        _ customer: StoreCustomer,
        at moment: Timestamp
    ) -> Transaction {
        var fact = Transaction(
            id: id,
            originalID: originalID,
            product: product.id,
            kind: product.kind,
            purchasedAt: moment,
            signedAt: now
        )
        fact.originallyPurchasedAt = transactions[originalID]?.fact.purchasedAt ?? moment
        fact.ownership = .purchased
        fact.storefront = customer.storefront.country
        fact.subscriptionGroup = product.group
        return fact
    }

    /// Writes a transaction into the ledger.
    mutating func record(
        _ fact: Transaction,
        _ customer: StoreCustomer,
        _ app: StoreApp,
        _ reason: TransactionReason,
        purchasedBy: TransactionID? = nil
    ) {
        var fact = fact
        let owner = Owner(customer: customer.name, app: app.bundleID)
        fact.appTransaction = download(app, by: customer)
        if fact.kind == .autoRenewable { fact.webOrderLineItem = numbers.webOrderLineItem(in: customer.environment) }
        let order = numbers.orderID()
        var sold = SoldTransaction(
            fact: fact,
            customer: customer,
            app: app.bundleID,
            reason: reason,
            orderID: order,
            purchasedBy: purchasedBy
        )
        sold.modifiedAt = now
        changesCount += 1
        sold.changeNumber = changesCount
        transactions[fact.id] = sold
        sales.append(fact.id)
        owned[owner, default: []].append(fact.id)
        orders[order, default: []].append(fact.id)
        if let purchasedBy { copies[purchasedBy, default: []].append(fact.id) }
    }

    /// The number of the pair of account and app, made when she first gets the app.
    @discardableResult
    package mutating func download(_ app: StoreApp, by customer: StoreCustomer) -> String {
        if let known = customers[customer.name]?.downloads[app.bundleID] { return known.appTransactionID }
        let number = numbers.appTransactionID()
        customers[customer.name]?.downloads[app.bundleID] = StoreCustomer.Download(
            appTransactionID: number,
            at: now,
            version: app.version
        )
        downloads[number] = Owner(customer: customer.name, app: app.bundleID)
        return number
    }
}

extension SubscriptionLine {
    /// Remembers for how many more renewals an offer that has just been paid will count.
    mutating func take(_ offer: StoreOffer?) {
        let isRepeated = offer.map { $0.mode == .payAsYouGo && $0.periodCount > 1 } ?? false
        pendingOffer = isRepeated ? offer : nil
        pendingOfferCount = isRepeated ? (offer?.periodCount ?? 1) - 1 : 0
    }
}
