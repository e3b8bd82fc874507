import Encoding
import PurchaseModel

/// What an app sells, as JSON.
enum CatalogueJSON {
    static func write(_ app: StoreApp, into json: inout JSONObjectWriter) {
        json.member("bundle_id", app.bundleID.text)
        json.member("apple_id", app.appleID)
        json.member("issuer_id", app.issuerID)
        json.member("shared_secret", app.sharedSecret)
        json.member("grace_period_days", app.gracePeriod?.days)
        json.array("key_ids") { json in for id in app.apiKeys.keys.sorted() { json.element(id) } }
        json.array("products") { json in
            for product in app.products.values.sorted(by: { $0.id < $1.id }) {
                json.object { write(product, into: &$0) }
            }
        }
    }

    private static func write(_ product: StoreProduct, into json: inout JSONObjectWriter) {
        json.member("id", product.id.text)
        json.member("type", product.kind.rawValue)
        json.member("price", product.price.milliunits)
        json.member("currency", product.price.currency)
        json.member("group", product.group)
        json.member("level", product.group == nil ? nil : product.level)
        json.member("period", product.period?.description)
        json.member("family_shareable", product.isFamilyShareable)
        json.member("for_sale", product.isForSale)
        json.array("offers") { json in
            for offer in product.offers {
                json.object { json in
                    json.member("type", offer.kind.rawValue)
                    json.member("identifier", offer.identifier)
                    json.member("mode", offer.mode.rawValue)
                    json.member("period", offer.period.description)
                    json.member("periods", offer.periodCount)
                    json.member("price", offer.price.milliunits)
                }
            }
        }
    }
}
