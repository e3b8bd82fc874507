import AppleFormats
import PurchaseModel

/// AppTransactions in our own words: the download of the app itself.
enum AppTransactionTranslation {
    static func claims(of payload: AppTransactionPayload) throws(Refusal) -> Claims {
        let text = try FieldReader.required(payload.bundleID, "bundleId")
        guard let bundleID = BundleID(text) else { throw Refusal(.fieldOutOfRange, "bundleId is not an id") }
        let signedAt = try FieldReader.signingMoment(payload.receiptCreationDate, "receiptCreationDate")
        var download = AppDownload(bundleID: bundleID, signedAt: signedAt)
        download.environment = payload.receiptType.map { StoreEnvironment(apple: $0.rawValue) }
        download.appleID = payload.appAppleID.flatMap { $0 == 0 ? nil : $0 }
        download.version = payload.applicationVersion
        download.originalVersion = payload.originalApplicationVersion
        download.originallyPurchasedAt = payload.originalPurchaseDate.map(Timestamp.init(milliseconds:))
        download.preorderedAt = payload.preorderDate.map(Timestamp.init(milliseconds:))
        download.appTransaction = payload.appTransactionID
        var claims = Claims()
        claims.bundleID = text
        claims.environment = download.environment
        claims.appleID = download.appleID
        claims.signedAt = signedAt
        claims.download = download
        return claims
    }
}
