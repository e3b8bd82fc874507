import PurchaseModel

// What the merchant does in App Store Connect and by the Server API.
extension SimulatedStore {
    mutating func raisePrice(_ rise: Act.PriceRise) throws(ActRefusal) -> ActOutcome {
        var app = try app(rise.app)
        var product = try product(rise.product, of: app)
        guard product.kind == .autoRenewable else { throw .notASubscription }
        product.price = rise.price
        product.pricesElsewhere = [:]
        app.products[product.id] = product
        apps[app.bundleID] = app
        var told: [TransactionID] = []
        for line in subscribers(of: product.id, app.bundleID) where line.nextProduct == product.id {
            lines[line.originalID]?.priceIncrease = SubscriptionLine.PriceIncrease(
                price: rise.price,
                needsConsent: rise.needsConsent,
                isAccepted: !rise.needsConsent
            )
            notify(.priceIncrease, rise.needsConsent ? "PENDING" : "ACCEPTED", line.current)
            told.append(line.current)
        }
        return .done(told)
    }

    mutating func setForSale(_ app: BundleID, _ id: ProductID, _ isOn: Bool) throws(ActRefusal) -> ActOutcome {
        _ = try product(id, of: self.app(app))
        apps[app]?.products[id]?.isForSale = isOn
        return .done([])
    }

    mutating func extend(_ id: TransactionID, _ terms: Act.Extension) throws(ActRefusal) -> ActOutcome {
        let transaction = try sold(id)
        guard transaction.originalID == id, let line = lines[id] else { throw .notOriginal }
        guard !line.extensionRequests.contains(terms.requestIdentifier) else { return .done([line.current]) }
        try checkExtension(of: line)
        lengthen(line, terms)
        tell(id, .renewalExtended)
        return .done([line.current])
    }

    mutating func extendAll(_ request: Act.MassExtension) throws(ActRefusal) -> ActOutcome {
        guard try product(request.product, of: app(request.app)).kind == .autoRenewable else {
            throw .notASubscription
        }
        massExtensions.append(MassExtensionRun(request: request))
        // Apple speaks of hours to days.
        agenda.plan(.massExtensionRuns(massExtensions.count - 1), at: now.advanced(by: .seconds(3_600)))
        return .done([])
    }

    mutating func massExtensionRuns(_ index: Int) {
        let request = massExtensions[index].request
        for line in subscribers(of: request.product, request.app) where line.environment == request.environment {
            guard let customer = customers[line.customer],
                request.countries.isEmpty || request.countries.contains(customer.storefront.country)
            else { continue }
            do throws(ActRefusal) {
                try checkExtension(of: line)
                lengthen(line, request.terms)
                massExtensions[index].succeeded += 1
                tell(line.originalID, .renewalExtended)
            } catch {
                massExtensions[index].failed += 1
                notify(.renewalExtension, "FAILURE", line.current)
            }
        }
        massExtensions[index].completedAt = now
        let summary = StoreNotice.ExtensionSummary(
            requestIdentifier: request.terms.requestIdentifier,
            product: request.product,
            countries: request.countries,
            succeeded: massExtensions[index].succeeded,
            failed: massExtensions[index].failed
        )
        note(.renewalExtension, "SUMMARY", request.app, request.environment, .extensionSummary(summary))
    }

    mutating func setAccountToken(_ id: TransactionID, _ token: AccountToken) throws(ActRefusal) -> ActOutcome {
        let transaction = try sold(id)
        guard transaction.purchasedBy == nil else { throw .familyShared }
        guard transaction.originalID == id else { throw .notOriginal }
        // Of a subscription the running period and those to come; the past keeps what it had.
        let changed = lines[id]?.current ?? id
        lines[id]?.accountToken = token
        modify(changed) { $0.fact.accountToken = token }
        return .done([changed])
    }

    mutating func announce(
        _ change: Act.AdvancedCommerceChange,
        of subscription: Act.Subscription
    ) throws(ActRefusal) -> ActOutcome {
        let line = try line(subscription)
        guard isRunning(line) else { throw .notSubscribed }
        switch change {
        case .metadata: notify(.metadataUpdate, nil, line.current)
        case .migration: notify(.migration, nil, line.current)
        case .price: notify(.priceChange, nil, line.current)
        }
        return .done([line.current])
    }

    mutating func rescindConsent(_ name: String, _ app: BundleID) throws(ActRefusal) -> ActOutcome {
        let customer = try customer(name)
        download(try self.app(app), by: customer)
        note(.rescindConsent, nil, app, customer.environment, .consent(customer: name))
        return .done([])
    }

    mutating func createExternalPurchase(
        _ app: BundleID,
        _ environment: StoreEnvironment,
        _ kind: Act.ExternalPurchaseKind
    ) throws(ActRefusal) -> ActOutcome {
        _ = try self.app(app)
        let isCustomLink = kind != .unreported
        let token = StoreNotice.ExternalPurchase(
            id: (environment == .production ? "" : "SANDBOX_") + numbers.uuid(),
            createdAt: now,
            expiresAt: isCustomLink ? now.advanced(by: .seconds(365 * 86_400)) : nil,
            tokenType: isCustomLink ? "SERVICES" : nil
        )
        note(.externalPurchaseToken, kind.rawValue, app, environment, .externalPurchase(token))
        return .done([])
    }

    mutating func requestTest(_ app: BundleID, _ environment: StoreEnvironment) throws(ActRefusal) -> ActOutcome {
        guard try self.app(app).notifications(in: environment) != nil else { throw .noTarget }
        return .test(token: note(.test, nil, app, environment, .test))
    }

    /// Lines that run, of customers who pay for themselves.
    private func subscribers(of product: ProductID, _ app: BundleID) -> [SubscriptionLine] {
        lines.values.filter {
            $0.app == app && $0.sharedFrom == nil && isRunning($0)
                && (transactions[$0.current]?.fact.product == product || $0.nextProduct == product)
        }
        .sorted { $0.originalID < $1.originalID }
    }

    /// Active and paid, not in trouble, and less than twice in a year.
    private func checkExtension(of line: SubscriptionLine) throws(ActRefusal) {
        guard line.sharedFrom == nil else { throw .familyShared }
        guard status(of: line) == .active, line.failure == nil, let current = transactions[line.current],
            current.fact.offer?.discount != StoreOffer.Mode.freeTrial.rawValue
        else { throw .extensionIneligible }
        let year = now.advanced(by: .seconds(-365 * 86_400))
        guard line.extensions.filter({ $0 > year }).count < 2 else { throw .extensionsUsedUp }
    }

    private mutating func lengthen(_ line: SubscriptionLine, _ terms: Act.Extension) {
        guard let rate = customers[line.customer]?.rate else { return }
        let end = line.expiresAt.advanced(by: rate.days(terms.days))
        lines[line.originalID]?.expiresAt = end
        lines[line.originalID]?.extensions.append(now)
        lines[line.originalID]?.extensionRequests.insert(terms.requestIdentifier)
        modify(line.current) { $0.fact.expiresAt = end }
        for member in membersLines(of: line.originalID) {
            lines[member.originalID]?.expiresAt = end
            modify(member.current) { $0.fact.expiresAt = end }
        }
        agenda.plan(.periodEnds(line: line.originalID), at: end)
    }
}
