import AppleFormats
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
        var claims = Claims()
        claims.bundleID = subject.bundleID
        claims.appleID = subject.appleID
        claims.environment = subject.environment
        claims.signedAt = payload.signedDate.map(Timestamp.init(milliseconds:))
        claims.notice = notice
        return claims
    }

    /// Exactly one of four objects says whom a notification is about.
    private static func subject(
        of payload: NotificationPayload
    ) -> (bundleID: String?, appleID: Int64?, environment: StoreEnvironment?) {
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
        let app = payload.appData
        return (app?.bundleID, app?.appAppleID, (app?.environment).map { StoreEnvironment(apple: $0.rawValue) })
    }
}
