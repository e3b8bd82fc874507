import Encoding
import HTTP
import Pipeline
import PurchaseModel

/// `GET /v1/catalogue`: what the app sells, and what each product gives.
enum Catalogue {
    private static let day: Int64 = 86_400

    static func list(_ app: AppPolicy) -> HTTPResponse {
        let products = (app.terms.products ?? [:]).values.sorted { $0.product < $1.product }
        return .json(.ok) { json in
            // Without a catalogue every product of the app's is taken, and none gives anything.
            json.member("is_complete", app.terms.products != nil)
            json.array("products") { json in
                for product in products { json.object { write(product, into: &$0) } }
            }
        }
    }

    private static func write(_ product: ProductTerms, into json: inout JSONObjectWriter) {
        json.member("product_id", product.product.text)
        json.member("type", product.kind.rawValue)
        json.array("goods") { json in
            for goods in product.goods {
                json.object { json in
                    switch goods {
                    case .entitlement(let id): json.member("entitlement", id.text)
                    case .amount(let amount, let currency):
                        json.member("currency", currency.text)
                        json.member("amount", amount)
                    }
                }
            }
        }
        json.member("period_days", product.period.map { $0.components.seconds / day })
        if product.isFamilyShared { json.member("is_family_shared", true) }
    }
}
