package import PurchaseModel

// What the store knows, in the words of StoreKit 2. Sources: Apple, *JWSTransactionDecodedPayload*,
// *JWSRenewalInfoDecodedPayload*, *AppTransaction*; which keys go with which state was compared with recorded texts.
extension Payload {
    /// JWSTransactionDecodedPayload, signed at `moment`.
    package static func transaction(
        _ sold: SoldTransaction,
        of app: StoreApp,
        signedAt moment: Timestamp
    ) -> Payload {
        var fact = sold.fact
        fact.signedAt = moment
        var payload = transaction(fact, of: app.signing(in: sold.environment))
        payload["storefront"] = .text(sold.storefront.country)
        payload["storefrontId"] = .text(sold.storefront.number)
        if sold.isSubscription { payload["billingPlanType"] = .text(upfront) }
        return payload
    }

    /// JWSRenewalInfoDecodedPayload of a subscription as the store stands, signed now.
    package static func renewal(of line: SubscriptionLine, in store: SimulatedStore) -> Payload {
        guard let app = store.apps[line.app] else { preconditionFailure("a subscription to no app") }
        return renewal(store.outlook(of: line), of: app, in: line.environment)
    }

    /// The same, signed at the moment at which it was so.
    static func renewal(
        _ outlook: SubscriptionOutlook,
        of app: StoreApp,
        in environment: StoreEnvironment
    ) -> Payload {
        var payload = renewal(outlook.renewal, of: app.signing(in: environment))
        if outlook.renewal.willAutoRenew == true {
            payload["renewalBillingPlanType"] = .text(upfront)
        } else {
            // What will not be charged has no price.
            payload["renewalPrice"] = nil
            payload["currency"] = nil
        }
        let offers = outlook.winBackOffers
        if !offers.isEmpty { payload["eligibleWinBackOfferIds"] = .list(offers.map { .text($0) }) }
        if let number = outlook.appTransaction {
            payload["appTransactionId"] = .text(number)
        }
        return payload
    }

    /// The payload of an AppTransaction as servers get it, signed at `moment`: without what belongs to a device.
    package static func appTransaction(
        _ download: StoreCustomer.Download,
        of app: StoreApp,
        in environment: StoreEnvironment,
        signedAt moment: Timestamp
    ) -> Payload {
        var fact = AppDownload(bundleID: app.bundleID, signedAt: moment)
        fact.originallyPurchasedAt = download.at
        fact.appTransaction = download.appTransactionID
        if environment == .production { fact.originalVersion = download.version }
        var payload = appTransaction(fact, of: app.signing(in: environment))
        if environment == .production {
            payload["versionExternalIdentifier"] = .number(app.versionExternalID)
        } else {
            payload["appAppleId"] = nil
        }
        payload["originalPlatform"] = .text("iOS")
        return payload
    }

    /// The classic way of paying for a subscription: each period when it begins.
    private static let upfront = "BILLED_UPFRONT"
}
