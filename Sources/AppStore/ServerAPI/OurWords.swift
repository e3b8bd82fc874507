import AppleFormats
package import PurchaseModel

// What jobs tell Apple, for who knows our words only.
extension AppStoreServerClient {
    /// Send Consumption Information, in the form that the purchase needs; only ever with the customer's consent.
    ///
    /// - Parameters:
    ///   - answer: what is told.
    ///   - form: the first for purchases made through Advanced Commerce.
    ///   - id: the transaction that Apple asked about.
    ///   - account: what the app gave StoreKit with the purchase; only the first form tells it.
    ///   - store: where it is.
    /// - Throws: ``AppStoreFailure``.
    package func send(
        _ answer: ConsumptionAnswer,
        as form: ConsumptionForm,
        of id: TransactionID,
        account: AccountToken?,
        in store: StoreEnvironment
    ) async throws(AppStoreFailure) {
        switch form {
        case .first:
            guard var body = FirstConsumptionInformation(answer) else { throw .invalidRequest(field: "consent") }
            body.appAccountToken = account?.description ?? ""
            try await sendConsumption(body, of: id, in: store)
        case .second:
            guard let body = ConsumptionInformation(answer) else { throw .invalidRequest(field: "consent") }
            try await sendConsumption(body, of: id, in: store)
        }
    }
}

extension ConsumptionAnswer {
    fileprivate var hasConsent: Bool { consentBecause == .consentRecorded || consentBecause == .consentByTerms }
}

extension ConsumptionInformation {
    fileprivate init?(_ answer: ConsumptionAnswer) {
        let status: AppleDeliveryStatus =
            switch answer.delivery {
            case .delivered: .delivered
            case .undeliveredQualityIssue: .qualityIssue
            case .undeliveredWrongItem: .wrongItem
            case .undeliveredServerOutage: .serverOutage
            case .undeliveredOther: .other
            }
        self.init(
            customerConsented: answer.hasConsent,
            sampleContentProvided: answer.isSampleProvided,
            deliveryStatus: status
        )
        consumptionPercentage = answer.percentage
        refundPreference = answer.preference.map { preference in
            switch preference {
            case .decline: .decline
            case .grantFull: .grantFull
            case .grantProrated: .grantProrated
            }
        }
    }
}

extension FirstConsumptionInformation {
    /// What the second form says, in the numbers of the first; what we do not know stays undeclared.
    fileprivate init?(_ answer: ConsumptionAnswer) {
        let status =
            switch answer.delivery {
            case .delivered: 0
            case .undeliveredQualityIssue: 1
            case .undeliveredWrongItem: 2
            case .undeliveredServerOutage: 3
            case .undeliveredOther: 5
            }
        self.init(
            customerConsented: answer.hasConsent,
            sampleContentProvided: answer.isSampleProvided,
            deliveryStatus: status
        )
        consumptionStatus =
            switch answer.percentage {
            case nil: 0
            case 0?: 1
            case 100_000?: 3
            default: 2
            }
        refundPreference = answer.preference.map { preference in
            switch preference {
            case .grantFull, .grantProrated: 1
            case .decline: 2
            }
        }
    }
}

/// What came of putting renewals off.
package struct ExtensionProgress: Hashable, Sendable {
    package let isComplete: Bool
    package let succeeded: Int64?
    package let failed: Int64?
}

// What people who help customers have Apple asked.
extension AppStoreServerClient {
    /// Puts one subscription's renewal off.
    ///
    /// - Parameters:
    ///   - days: 1 to 90.
    ///   - reason: Apple's number.
    ///   - identifier: makes a repetition harmless; at most 128 characters.
    ///   - id: the original transaction's.
    ///   - store: where it is.
    /// - Returns: the new end; `nil` when Apple says that it did not succeed.
    /// - Throws: ``AppStoreFailure``.
    package func extend(
        days: Int,
        reason: Int64,
        identifier: String,
        original id: TransactionID,
        in store: StoreEnvironment
    ) async throws(AppStoreFailure) -> Timestamp? {
        let reason = AppleExtendReason(rawValue: reason)
        let terms = RenewalExtension(days: days, reason: reason, requestIdentifier: identifier)
        let answer = try await extend(terms, original: id, in: store)
        guard answer.success else { return nil }
        return Timestamp(milliseconds: answer.effectiveDate ?? 0)
    }

    /// The same of all who subscribe to a product; `identifier` is a UUID.
    package func extendAll(
        days: Int,
        reason: Int64,
        identifier: String,
        of product: ProductID,
        storefronts: [String]?,
        in store: StoreEnvironment
    ) async throws(AppStoreFailure) {
        let reason = AppleExtendReason(rawValue: reason)
        let terms = RenewalExtension(days: days, reason: reason, requestIdentifier: identifier)
        _ = try await extendAll(terms, of: product, storefronts: storefronts, in: store)
    }

    /// How far that has come.
    package func extensionProgress(
        _ identifier: String,
        of product: ProductID,
        in store: StoreEnvironment
    ) async throws(AppStoreFailure) -> ExtensionProgress {
        let answer = try await extensionStatus(identifier, of: product, in: store)
        return ExtensionProgress(
            isComplete: answer.isComplete ?? false,
            succeeded: answer.succeededCount,
            failed: answer.failedCount
        )
    }
}
