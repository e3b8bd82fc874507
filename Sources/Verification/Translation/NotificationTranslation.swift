import AppleFormats
import Encoding
import PurchaseModel

/// Version 2 notifications in our own words: what the outer signature covers. The facts inside are proved one by one,
/// by ``NestedVerifier``.
enum NotificationTranslation {
    static func claims(of payload: NotificationPayload) throws(Refusal) -> Claims {
        var notice = Notice(
            uuid: try FieldReader.required(payload.notificationUUID, "notificationUUID"),
            type: try FieldReader.required(payload.notificationType, "notificationType"),
            signedAt: Timestamp(milliseconds: payload.signedDate ?? 0)
        )
        notice.subtype = payload.subtype
        let subject = subject(of: payload)
        notice.bundleID = subject.bundleID.flatMap { BundleID($0) }
        notice.appleID = subject.appleID
        notice.environment = subject.environment
        notice.matter = matter(of: payload)
        var claims = Claims()
        claims.bundleID = subject.bundleID
        claims.appleID = subject.appleID
        claims.environment = subject.environment
        claims.signedAt = payload.signedDate.map(Timestamp.init(milliseconds:))
        claims.notice = notice
        return claims
    }

    /// What it says beside the facts in it, which are proved one by one: how a purchase came about is among them.
    private static func matter(of payload: NotificationPayload) -> Announcement.Matter {
        if let summary = payload.summary {
            return .extensions(
                ExtensionSummary(
                    requestIdentifier: summary.requestIdentifier,
                    product: summary.productID,
                    storefronts: summary.storefrontCountryCodes,
                    succeeded: summary.succeededCount,
                    failed: summary.failedCount
                )
            )
        }
        if let token = payload.externalPurchaseToken {
            return .externalPurchase(
                ExternalPurchase(
                    id: token.externalPurchaseID,
                    createdAt: token.tokenCreationDate.map(Timestamp.init(milliseconds:)),
                    expiresAt: token.tokenExpirationDate.map(Timestamp.init(milliseconds:)),
                    tokenType: token.tokenType
                )
            )
        }
        if payload.appData != nil { return .download(appTransaction: nil) }
        guard payload.notificationType == "CONSUMPTION_REQUEST" else { return .none }
        return .refundRequest(reason: payload.data?.consumptionRequestReason, isAdvancedCommerce: false)
    }

    /// Of which app and store something is; all are absent where nothing says it.
    private typealias Subject = (bundleID: String?, appleID: Int64?, environment: StoreEnvironment?)

    /// Exactly one of four objects says whom a notification is about, or one that Apple has added since.
    private static func subject(of payload: NotificationPayload) -> Subject {
        if let data = payload.data {
            return (data.bundleID, data.appAppleID, data.environment.map { StoreEnvironment(apple: $0.rawValue) })
        }
        if let summary = payload.summary {
            return (
                summary.bundleID, summary.appAppleID, summary.environment.map { StoreEnvironment(apple: $0.rawValue) }
            )
        }
        if let token = payload.externalPurchaseToken {
            // The token names no environment; a sandbox one says so in its id.
            let isSandbox = token.externalPurchaseID?.utf8.starts(with: Array("SANDBOX".utf8)) ?? false
            return (token.bundleID, token.appAppleID, isSandbox ? .sandbox : .production)
        }
        if let app = payload.appData {
            return (app.bundleID, app.appAppleID, app.environment.map { StoreEnvironment(apple: $0.rawValue) })
        }
        guard let later = payload.laterSubject else { return (nil, nil, nil) }
        return (
            later["bundleId"]?.string, later["appAppleId"]?.int64,
            later["environment"]?.string.map { StoreEnvironment(apple: $0) }
        )
    }
}

extension NotificationPayload {
    /// Whom it is about where none of the four objects says it that we know: the one other object that names an app. Of several
    /// none counts. Beside app and store only what is signed in it is read.
    var laterSubject: JSONObject? {
        guard data == nil, summary == nil, externalPurchaseToken == nil, appData == nil else { return nil }
        let found = others.compactMap(\.object).filter { $0["bundleId"] != nil }
        return found.count == 1 ? found.first : nil
    }
}
