import Pipeline
import Encoding
import PurchaseModel
import Verification

/// A report as one JSON object on one line: the contract of `assay verify --json`.
///
/// It may be looked at on a terminal, so what comes out of a proof is escaped as in ``ReportText``, in JSON's own way.
enum ReportJSON {
    static func line(file: String, _ report: Report) -> [UInt8] {
        showable(object(file: file, report))
    }

    /// All that JSON itself is made of is ASCII: whatever else there is stands in a string.
    static func showable(_ json: [UInt8]) -> [UInt8] {
        guard json.contains(where: { $0 >= 0x80 }) else { return json }
        var shown: [UInt8] = []
        shown.reserveCapacity(json.count)
        for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
            if scalar.isShowable {
                shown.append(contentsOf: String(scalar).utf8)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = Hexadecimal.encode([UInt8(unit >> 8), UInt8(unit & 0xFF)])
                shown.append(contentsOf: "\\u\(digits)".utf8)
            }
        }
        return shown
    }

    private static func object(file: String, _ report: Report) -> [UInt8] {
        JSONWriter.object(reserving: 2_048) { json in
            json.member("file", file)
            json.member("format", report.format.rawValue)
            json.member("verdict", report.verdict.rawValue)
            json.member("reason", report.reason.rawValue)
            json.member("detail", report.detail)
            if let difference = report.difference {
                json.object("difference") { json in
                    json.member("field", difference.field)
                    json.member("expected", difference.expected)
                    json.member("found", difference.found)
                }
            }
            write(report.claims, into: &json)
            json.array("checks") { json in
                for check in report.checks { json.object { write(check, into: &$0) } }
            }
            json.array("certificates") { json in
                for certificate in report.certificates { json.object { write(certificate, into: &$0) } }
            }
        }
    }

    private static func write(_ claims: Claims, into json: inout JSONObjectWriter) {
        json.member("environment", claims.environment?.rawValue)
        json.member("bundle_id", claims.bundleID)
        json.member("apple_id", claims.appleID)
        json.member("signed_at", claims.signedAt)
        json.array("transactions") { json in
            for transaction in claims.transactions { json.object { TransactionJSON.write(transaction, into: &$0) } }
        }
        if let renewal = claims.renewal { json.object("renewal_info") { write(renewal, into: &$0) } }
        if let download = claims.download { json.object("app_transaction") { write(download, into: &$0) } }
        if let notice = claims.notice { json.object("notification") { write(notice, into: &$0) } }
    }

    private static func write(_ renewal: Renewal, into json: inout JSONObjectWriter) {
        json.member("original_transaction_id", renewal.originalID.description)
        json.member("product_id", renewal.product.text)
        json.member("auto_renew_product_id", renewal.nextProduct?.text)
        json.member("auto_renew_status", renewal.willAutoRenew.map { $0 ? 1 : 0 })
        json.member("environment", renewal.environment?.rawValue)
        json.member("expiration_intent", renewal.expirationIntent)
        json.member("is_in_billing_retry_period", renewal.isInBillingRetry)
        json.member("grace_period_expires_date", renewal.graceEndsAt)
        json.member("renewal_date", renewal.renewsAt)
        json.member("recent_subscription_start_date", renewal.recentStartAt)
        json.member("renewal_price_milliunits", renewal.nextPrice?.milliunits)
        json.member("currency", renewal.nextPrice?.currency)
        json.member("price_increase_status", renewal.priceIncreaseStatus)
        json.member("offer_type", renewal.offer?.kind.rawValue)
        json.member("offer_identifier", renewal.offer?.identifier)
        json.member("app_account_token", renewal.accountToken?.description)
        json.member("signed_at", renewal.signedAt)
    }

    private static func write(_ download: AppDownload, into json: inout JSONObjectWriter) {
        json.member("application_version", download.version)
        json.member("original_application_version", download.originalVersion)
        json.member("original_purchase_date", download.originallyPurchasedAt)
        json.member("preorder_date", download.preorderedAt)
        json.member("app_transaction_id", download.appTransaction)
    }

    private static func write(_ notice: Notice, into json: inout JSONObjectWriter) {
        json.member("notification_uuid", notice.uuid)
        json.member("notification_type", notice.type)
        json.member("subtype", notice.subtype)
        json.member("bundle_id", notice.bundleID?.text)
        json.member("apple_id", notice.appleID)
        json.member("environment", notice.environment?.rawValue)
        json.member("signed_at", notice.signedAt)
        if let transaction = notice.transaction {
            json.object("transaction") { TransactionJSON.write(transaction, into: &$0) }
        }
        if let renewal = notice.renewal { json.object("renewal_info") { write(renewal, into: &$0) } }
    }

    private static func write(_ check: Check, into json: inout JSONObjectWriter) {
        json.member("name", check.name.rawValue)
        json.member("outcome", check.outcome.rawValue)
        json.member("detail", check.detail)
    }

    private static func write(_ certificate: CertificateFacts, into json: inout JSONObjectWriter) {
        json.member("subject", certificate.subject)
        json.member("issuer", certificate.issuer)
        json.member("serial", certificate.serial)
        json.member("sha256", Hexadecimal.encode(certificate.sha256))
        json.member("not_before", certificate.notBefore)
        json.member("not_after", certificate.notAfter)
    }
}
