package import Encoding
package import PurchaseModel

/// What Apple tells by itself, as our JSON shows it.
package enum AnnouncementJSON {
    /// The members of a notification object.
    ///
    /// - Parameters:
    ///   - heard: the notification.
    ///   - isWhole: false leaves out what only its type says.
    ///   - json: the object.
    package static func write(_ heard: Announcement, isWhole: Bool = true, into json: inout JSONObjectWriter) {
        json.member("notification_uuid", heard.id.text)
        json.member("type", heard.type)
        json.member("subtype", heard.subtype)
        json.member("signed_at", heard.signedAt)
        json.member("transaction_id", heard.transaction?.description)
        json.member("original_transaction_id", heard.original?.description)
        guard isWhole else { return }
        switch heard.matter {
        case .none, .refundRequest: break
        case .extensions(let summary): json.object("extensions") { write(summary, into: &$0) }
        case .externalPurchase(let token): json.object("external_purchase") { write(token, into: &$0) }
        case .download(let id): json.member("app_transaction_id", id)
        }
    }

    private static func write(_ summary: ExtensionSummary, into json: inout JSONObjectWriter) {
        json.member("request_identifier", summary.requestIdentifier)
        json.member("product_id", summary.product)
        if let storefronts = summary.storefronts {
            json.array("storefronts") { json in
                for storefront in storefronts { json.element(storefront) }
            }
        }
        json.member("succeeded", summary.succeeded)
        json.member("failed", summary.failed)
    }

    private static func write(_ token: ExternalPurchase, into json: inout JSONObjectWriter) {
        json.member("external_purchase_id", token.id)
        json.member("created_at", token.createdAt)
        json.member("expires_at", token.expiresAt)
        json.member("token_type", token.tokenType)
    }
}
