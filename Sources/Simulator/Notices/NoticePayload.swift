import Crypto
import PurchaseModel

/// A notification of version 2 before it is signed: its own members, and what is signed inside each by itself.
///
/// Source: Apple, *responseBodyV2DecodedPayload*, *data*, *summary*, *externalPurchaseToken*, *appData*.
struct NoticePayload: Sendable {
    private let notice: StoreNotice
    private let app: StoreApp
    private var transaction: Payload?
    private var renewal: Payload?
    private var appTransaction: Payload?

    /// Takes from the store what the notice speaks of, as it stood at the notice's moment.
    init?(_ notice: StoreNotice, in store: SimulatedStore) {
        guard let app = store.apps[notice.app] else { return nil }
        self.notice = notice
        self.app = app
        switch notice.subject {
        case .purchase(let purchase):
            transaction = .transaction(purchase.transaction, of: app, signedAt: notice.at)
            renewal = purchase.outlook.map { .renewal($0, of: app, in: notice.environment) }
        case .consent(let customer):
            guard let download = store.customers[customer]?.downloads[app.bundleID] else { return nil }
            appTransaction = .appTransaction(download, of: app, in: notice.environment, signedAt: notice.at)
        case .test, .extensionSummary, .externalPurchase: break
        }
    }

    /// The `signedPayload`.
    func signed(by signer: PreparedSigner) throws(CryptoError) -> String {
        var payload = Payload()
        payload.set("notificationType", notice.type.rawValue)
        payload.set("subtype", notice.subtype)
        payload.set("notificationUUID", notice.uuid)
        payload.set("version", "2.0")
        payload.set("signedDate", notice.at.milliseconds)
        switch notice.subject {
        case .purchase(let purchase):
            payload["data"] = .object(try data(of: purchase, signer))
        case .test: payload["data"] = .object(data)
        case .extensionSummary(let summary): payload["summary"] = .object(members(of: summary))
        case .externalPurchase(let token): payload["externalPurchaseToken"] = .object(members(of: token))
        case .consent:
            var data = data
            // Here Apple names the app in sandbox, too.
            data.set("appAppleId", app.appleID)
            if let appTransaction { data.set("signedAppTransactionInfo", try signer.sign(appTransaction)) }
            payload["appData"] = .object(data)
        }
        return try signer.sign(payload)
    }

    /// What says which app it is; in sandbox without its number.
    private var data: Payload {
        var data = Payload()
        if isProduction { data.set("appAppleId", app.appleID) }
        data.set("bundleId", app.bundleID.text)
        data.set("environment", notice.environment.answerName)
        return data
    }

    private func data(of purchase: StoreNotice.Purchase, _ signer: PreparedSigner) throws(CryptoError) -> Payload {
        var data = data
        data.set("bundleVersion", app.version)
        if let transaction { data.set("signedTransactionInfo", try signer.sign(transaction)) }
        if let renewal { data.set("signedRenewalInfo", try signer.sign(renewal)) }
        data.set("status", purchase.status.map { Int64($0.rawValue) })
        data.set("consumptionRequestReason", purchase.consumptionReason)
        return data
    }

    private func members(of summary: StoreNotice.ExtensionSummary) -> Payload {
        var payload = Payload()
        payload.set("requestIdentifier", summary.requestIdentifier)
        payload.set("environment", notice.environment.answerName)
        if isProduction { payload.set("appAppleId", app.appleID) }
        payload.set("bundleId", app.bundleID.text)
        payload.set("productId", summary.product.text)
        if !summary.countries.isEmpty {
            payload["storefrontCountryCodes"] = .list(summary.countries.map { .text($0) })
        }
        payload.set("succeededCount", Int64(summary.succeeded))
        payload.set("failedCount", Int64(summary.failed))
        return payload
    }

    private func members(of token: StoreNotice.ExternalPurchase) -> Payload {
        var payload = Payload()
        payload.set("externalPurchaseId", token.id)
        payload.set("tokenCreationDate", token.createdAt.milliseconds)
        payload.set("tokenExpirationDate", token.expiresAt?.milliseconds)
        payload.set("tokenType", token.tokenType)
        payload.set("appAppleId", app.appleID)
        payload.set("bundleId", app.bundleID.text)
        return payload
    }

    private var isProduction: Bool { notice.environment == .production }
}
