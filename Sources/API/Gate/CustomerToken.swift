import Crypto
import Encoding
import Pipeline
package import PurchaseModel

/// What shows that a customer is who a publishable key says: everybody has the key, so the shop's server gives the app a
/// token for the customer who has logged in.
///
/// The token is the HMAC-SHA-256 of the customer's id under a secret that only the shop and Assay have, in hexadecimal.
package struct CustomerToken: Sendable {
    static let field = "Assay-Customer-Token"

    private let secrets: [AppID: [UInt8]]

    /// - Parameter secrets: of the apps that want a token; the others believe whoever knows a customer's id.
    package init(_ secrets: [AppID: [UInt8]]) { self.secrets = secrets }

    /// Whether a caller may speak for a customer, or for nobody. A secret key may for all of them; of an app that makes such
    /// tokens a publishable one for nobody without.
    func admits(_ key: APIKey, for customer: CustomerID?, showing token: String?) -> Bool {
        guard key.kind == .publishable, let secret = secrets[key.holder.app] else { return true }
        guard let customer, let shown = token.flatMap({ Hexadecimal.decode($0) }) else { return false }
        let right = MessageAuthentication.hmacSHA256(key: secret, message: Array(customer.text.utf8))
        return MessageAuthentication.areEqual(right, shown)
    }
}
