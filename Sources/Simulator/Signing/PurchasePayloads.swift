package import PurchaseModel

/// The app in whose name the simulated App Store signs.
package struct SimulatedApp: Hashable, Sendable {
    package var bundleID: BundleID
    /// Apple's number for the app; in sandbox Apple leaves it out or writes 0.
    package var appleID: Int64
    package var version: String
    package var environment: StoreEnvironment

    package init(
        bundleID: BundleID,
        appleID: Int64 = 1_234_567_890,
        version: String = "1",
        environment: StoreEnvironment
    ) {
        self.bundleID = bundleID
        self.appleID = appleID
        self.version = version
        self.environment = environment
    }

    var isProduction: Bool { environment == .production }

    /// Apple's word for the environment in StoreKit 2.
    var environmentName: String {
        switch environment {
        case .production: "Production"
        case .sandbox: "Sandbox"
        case .xcode: "Xcode"
        case .localTesting: "LocalTesting"
        default: environment.rawValue
        }
    }
}

extension TransactionReason {
    /// Apple's word for it.
    var appleName: String { rawValue.uppercased() }
}

// Our vocabulary in Apple's words. The App Store leaves out what does not apply.
extension Payload {
    /// JWSTransactionDecodedPayload.
    package static func transaction(_ transaction: Transaction, of app: SimulatedApp) -> Payload {
        var payload = Payload()
        payload.set("transactionId", transaction.id.description)
        let originalID = transaction.originalID ?? transaction.id
        payload.set("originalTransactionId", originalID.description)
        payload.set("webOrderLineItemId", transaction.webOrderLineItem)
        payload.set("bundleId", app.bundleID.text)
        payload.set("productId", transaction.product.text)
        payload.set("subscriptionGroupIdentifier", transaction.subscriptionGroup)
        payload.set("purchaseDate", transaction.purchasedAt.milliseconds)
        let original = transaction.originallyPurchasedAt ?? transaction.purchasedAt
        payload.set("originalPurchaseDate", original.milliseconds)
        payload.set("expiresDate", transaction.expiresAt?.milliseconds)
        payload.set("billingPlanType", transaction.billingPlan)
        if let end = transaction.commitmentEndsAt {
            var info = Payload()
            info.set("commitmentExpiresDate", end.milliseconds)
            payload["commitmentInfo"] = .object(info)
        }
        payload.set("quantity", Int64(transaction.quantity))
        payload.set("type", transaction.kind.map(typeName))
        payload.set("appAccountToken", transaction.accountToken?.description)
        payload.set("inAppOwnershipType", ownershipName(transaction.ownership ?? .purchased))
        payload.set("signedDate", transaction.signedAt.milliseconds)
        payload.add(transaction.revocation)
        if transaction.isUpgraded { payload.set("isUpgraded", true) }
        payload.add(transaction.offer)
        payload.set("environment", app.environmentName)
        let reason = transaction.reason ?? (transaction.id == originalID ? .purchase : .renewal)
        payload.set("transactionReason", reason.appleName)
        payload.set("storefront", transaction.storefront)
        payload.set("price", transaction.price?.milliunits)
        payload.set("currency", transaction.price?.currency)
        payload.set("appTransactionId", transaction.appTransaction)
        return payload
    }

    /// JWSRenewalInfoDecodedPayload.
    package static func renewal(_ renewal: Renewal, of app: SimulatedApp) -> Payload {
        var payload = Payload()
        payload.set("expirationIntent", renewal.expirationIntent.map(Int64.init))
        payload.set("originalTransactionId", renewal.originalID.description)
        payload.set("autoRenewProductId", (renewal.nextProduct ?? renewal.product).text)
        payload.set("productId", renewal.product.text)
        payload.set("autoRenewStatus", Int64(renewal.willAutoRenew ?? true ? 1 : 0))
        payload.set("isInBillingRetryPeriod", renewal.isInBillingRetry)
        payload.set("priceIncreaseStatus", renewal.priceIncreaseStatus.map(Int64.init))
        payload.set("gracePeriodExpiresDate", renewal.graceEndsAt?.milliseconds)
        payload.add(renewal.offer)
        payload.set("signedDate", renewal.signedAt.milliseconds)
        payload.set("environment", app.environmentName)
        payload.set("recentSubscriptionStartDate", renewal.recentStartAt?.milliseconds)
        payload.set("renewalDate", renewal.renewsAt?.milliseconds)
        payload.set("renewalPrice", renewal.nextPrice?.milliunits)
        payload.set("currency", renewal.nextPrice?.currency)
        payload.set("appAccountToken", renewal.accountToken?.description)
        payload.set("renewalBillingPlanType", renewal.nextBillingPlan)
        payload["commitmentInfo"] = renewal.nextCommitment.map { .object(commitment($0)) }
        return payload
    }

    private static func commitment(_ next: NextCommitment) -> Payload {
        var info = Payload()
        info.set("commitmentAutoRenewProductId", next.product?.text)
        info.set("commitmentAutoRenewStatus", next.willRenew.map { Int64($0 ? 1 : 0) })
        info.set("commitmentRenewalBillingPlanType", next.billingPlan)
        info.set("commitmentRenewalDate", next.beginsAt?.milliseconds)
        return info
    }

    /// The payload of an AppTransaction. It has no `signedDate`: `receiptCreationDate` stands for it.
    package static func appTransaction(_ download: AppDownload, of app: SimulatedApp) -> Payload {
        var payload = Payload()
        payload.set("receiptType", app.environmentName)
        payload.set("appAppleId", download.appleID ?? (app.isProduction ? app.appleID : 0))
        payload.set("bundleId", app.bundleID.text)
        payload.set("applicationVersion", download.version ?? app.version)
        payload.set("receiptCreationDate", download.signedAt.milliseconds)
        let original = download.originallyPurchasedAt ?? download.signedAt
        payload.set("originalPurchaseDate", original.milliseconds)
        payload.set("originalApplicationVersion", download.originalVersion ?? (app.isProduction ? app.version : "1.0"))
        payload.set("preorderDate", download.preorderedAt?.milliseconds)
        payload.set("appTransactionId", download.appTransaction)
        return payload
    }

    /// ResponseBodyV2DecodedPayload around what has been signed already; see ``PurchaseSigner``.
    package static func notification(
        _ notice: Notice,
        of app: SimulatedApp,
        transaction: String?,
        renewal: String?
    ) -> Payload {
        var data = Payload()
        if app.isProduction { data.set("appAppleId", app.appleID) }
        data.set("bundleId", app.bundleID.text)
        if transaction != nil { data.set("bundleVersion", app.version) }
        data.set("environment", app.environmentName)
        data.set("signedTransactionInfo", transaction)
        data.set("signedRenewalInfo", renewal)
        var payload = Payload()
        payload.set("notificationType", notice.type)
        payload.set("subtype", notice.subtype)
        payload.set("notificationUUID", notice.uuid)
        payload["data"] = .object(data)
        payload.set("version", "2.0")
        payload.set("signedDate", notice.signedAt.milliseconds)
        return payload
    }

    /// As Xcode writes it: moments as numbers with a fraction, `isUpgraded` spelled out.
    package func inXcodeStyle() -> Payload {
        var payload = self
        for key in keys where key.utf8.reversed().starts(with: "Date".utf8.reversed()) {
            if case .number(let moment)? = self[key] { payload[key] = .decimal("\(moment).2451") }
        }
        if self["transactionId"] != nil, self["isUpgraded"] == nil { payload["isUpgraded"] = .flag(false) }
        return payload
    }

    private mutating func add(_ revocation: Revocation?) {
        guard let revocation else { return }
        set("revocationReason", Int64(revocation.reason ?? 0))
        set("revocationDate", revocation.at.milliseconds)
        set("revocationType", revocation.type)
        set("revocationPercentage", revocation.percentage.map(Int64.init))
    }

    private mutating func add(_ offer: Offer?) {
        guard let offer else { return }
        set("offerType", Int64(offer.kind.rawValue))
        set("offerIdentifier", offer.identifier)
        set("offerDiscountType", offer.discount)
        set("offerPeriod", offer.period)
    }

    private static func typeName(_ kind: ProductKind) -> String {
        switch kind {
        case .autoRenewable: "Auto-Renewable Subscription"
        case .nonConsumable: "Non-Consumable"
        case .consumable: "Consumable"
        case .nonRenewing: "Non-Renewing Subscription"
        default: kind.rawValue
        }
    }

    private static func ownershipName(_ ownership: Ownership) -> String {
        switch ownership {
        case .purchased: "PURCHASED"
        case .familyShared: "FAMILY_SHARED"
        case .assigned: "ASSIGNED"
        default: ownership.rawValue
        }
    }
}
