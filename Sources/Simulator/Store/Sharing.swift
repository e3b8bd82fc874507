import PurchaseModel

// Family Sharing: each member has numbers of his own, and a line that goes with the purchaser's.
extension SimulatedStore {
    /// Gives every other member of the purchaser's family a copy.
    mutating func share(_ id: TransactionID) {
        guard let transaction = transactions[id], let family = customers[transaction.customer]?.family else { return }
        for member in members(of: family, in: transaction.environment) where member.name != transaction.customer {
            share(transaction, with: member)
        }
    }

    /// A member's copy, unless she has the same already.
    private mutating func share(_ transaction: SoldTransaction, with member: StoreCustomer) {
        guard let app = apps[transaction.app], let product = app.products[transaction.fact.product],
            product.isFamilyShareable, !transaction.isRevoked
        else { return }
        let owner = Owner(customer: member.name, app: app.bundleID)
        if let group = product.group {
            let running = lines(of: owner).contains { $0.group == group && isRunning($0) }
            guard !running, let line = lines[transaction.originalID], isRunning(line) else { return }
            shareSubscription(line, transaction, product, app, with: member)
        } else {
            let has = transactions(of: owner).contains { $0.fact.product == product.id && !$0.isRevoked }
            guard !has else { return }
            let id = numbers.transactionID(in: member.environment)
            copy(transaction, product, app, member, id, originalID: id, .purchase)
            notify(.oneTimeCharge, nil, id)
        }
    }

    private mutating func shareSubscription(
        _ line: SubscriptionLine,
        _ transaction: SoldTransaction,
        _ product: StoreProduct,
        _ app: StoreApp,
        with member: StoreCustomer
    ) {
        let past = lines(of: Owner(customer: member.name, app: app.bundleID)).last {
            $0.group == line.group && $0.sharedFrom != nil
        }
        let id = numbers.transactionID(in: member.environment)
        let originalID = past?.originalID ?? id
        copy(transaction, product, app, member, id, originalID: originalID, .purchase)
        var shared = SubscriptionLine(
            originalID: originalID,
            customer: member.name,
            app: line.app,
            environment: line.environment,
            group: line.group,
            current: id,
            nextProduct: line.nextProduct,
            recentStartAt: now,
            expiresAt: line.expiresAt
        )
        shared.willAutoRenew = line.willAutoRenew
        shared.sharedFrom = line.originalID
        begin(shared)
        notify(.subscribed, past == nil ? "INITIAL_BUY" : "RESUBSCRIBE", id)
    }

    private mutating func copy(
        _ transaction: SoldTransaction,
        _ product: StoreProduct,
        _ app: StoreApp,
        _ member: StoreCustomer,
        _ id: TransactionID,
        originalID: TransactionID,
        _ reason: TransactionReason
    ) {
        var fact = fact(id, originalID: originalID, product, member, at: transaction.fact.purchasedAt)
        fact.ownership = .familyShared
        fact.expiresAt = transaction.fact.expiresAt
        fact.price = transaction.fact.price
        fact.offer = transaction.fact.offer
        record(fact, member, app, reason, purchasedBy: transaction.id)
    }

    func membersLines(of id: TransactionID) -> [SubscriptionLine] {
        guard let line = lines[id], line.sharedFrom == nil, let family = customers[line.customer]?.family else {
            return []
        }
        return members(of: family, in: line.environment).flatMap { member in
            lines(of: Owner(customer: member.name, app: line.app)).filter { $0.sharedFrom == id }
        }
    }

    /// Makes every member's line say what the purchaser's says, with a transaction of its own for each new period.
    mutating func follow(_ id: TransactionID) {
        guard let line = lines[id], let app = apps[line.app], let current = transactions[line.current],
            let product = app.products[current.fact.product]
        else { return }
        for member in membersLines(of: id) {
            guard transactions[member.current]?.isRevoked == false, let customer = customers[member.customer] else {
                continue
            }
            guard product.isFamilyShareable else {
                // The purchaser went on with a plan that is hers alone.
                revokeCopy(member.current)
                continue
            }
            var changed = member
            if transactions[member.current]?.purchasedBy != line.current {
                let number = numbers.transactionID(in: member.environment)
                if current.reason == .purchase { modify(member.current) { $0.fact.isUpgraded = true } }
                copy(current, product, app, customer, number, originalID: member.originalID, current.reason)
                changed.current = number
            }
            changed.nextProduct = line.nextProduct
            changed.willAutoRenew = line.willAutoRenew
            changed.expiresAt = line.expiresAt
            changed.failure = line.failure
            changed.expirationIntent = line.expirationIntent
            changed.hasExpired = line.hasExpired
            changed.endedInGrace = line.endedInGrace
            lines[member.originalID] = changed
        }
    }

    mutating func setFamily(_ name: String, _ family: String?) throws(ActRefusal) -> ActOutcome {
        let customer = try customer(name)
        guard customer.family != family else { return .done([]) }
        if let old = customer.family { leave(old, customer) }
        var moved = customers[name] ?? customer
        moved.family = family
        set(moved)
        guard let family else { return .done([]) }
        for member in members(of: family, in: customer.environment) {
            for transaction in shareable(of: member.name) {
                if member.name == name {
                    share(transaction.id)
                } else if let newcomer = customers[name] {
                    share(transaction, with: newcomer)
                }
            }
        }
        return .done([])
    }

    mutating func setSharing(_ id: TransactionID, _ isOn: Bool) throws(ActRefusal) -> ActOutcome {
        let transaction = try sold(id)
        guard apps[transaction.app]?.products[transaction.fact.product]?.isFamilyShareable == true,
            transaction.purchasedBy == nil,
            // Of a subscription what runs now is shared: an old period is over, whatever plan came after it.
            !isOn || isHeld(transaction)
        else { throw .notShareable }
        if isOn { share(id) } else { revokeCopies(of: id) }
        return .done([id])
    }

    /// Takes back what members had of a purchase.
    mutating func revokeCopies(of id: TransactionID) {
        for copy in (copies[id] ?? []).sorted() where transactions[copy]?.isRevoked == false { revokeCopy(copy) }
    }

    private mutating func leave(_ family: String, _ customer: StoreCustomer) {
        for owner in owners(customer.name) {
            for transaction in transactions(of: owner) where transaction.purchasedBy != nil && isHeld(transaction) {
                revokeCopy(transaction.id)
            }
            for transaction in transactions(of: owner) where transaction.purchasedBy == nil && isHeld(transaction) {
                revokeCopies(of: transaction.id)
            }
        }
    }

    private mutating func revokeCopy(_ id: TransactionID) {
        let revocation = Revocation(at: now, reason: 0, type: "FAMILY_REVOKE")
        modify(id) { $0.fact.revocation = revocation }
        if let line = transactions[id].flatMap({ lines[$0.originalID] }), line.current == id {
            lines[line.originalID]?.willAutoRenew = false
        }
        notify(.revoke, nil, id)
    }

    /// What a customer bought and could share now.
    private func shareable(of name: String) -> [SoldTransaction] {
        owners(name)
            .flatMap { transactions(of: $0) }
            .filter { $0.purchasedBy == nil && isLive($0) }
    }

    /// Not taken back, and of a subscription the newest period, in grace or while Apple tries to charge as well.
    private func isHeld(_ transaction: SoldTransaction) -> Bool {
        guard !transaction.isRevoked else { return false }
        guard transaction.isSubscription else { return true }
        guard let line = lines[transaction.originalID] else { return false }
        return line.current == transaction.id && !line.hasExpired
    }

    /// The same, and she has access by it.
    private func isLive(_ transaction: SoldTransaction) -> Bool {
        guard isHeld(transaction) else { return false }
        return lines[transaction.originalID].map { isRunning($0) } ?? true
    }

    private func members(of family: String, in environment: StoreEnvironment) -> [StoreCustomer] {
        (families[family] ?? []).compactMap { customers[$0] }.filter { $0.environment == environment }
            .sorted { $0.name < $1.name }
    }

    /// The customer in each app in which she has bought something.
    func owners(_ name: String) -> [Owner] {
        apps.keys.map { Owner(customer: name, app: $0) }.filter { owned[$0] != nil }.sorted { $0.app < $1.app }
    }
}
