package import Foundation

/// A purchase as it is written down and sent: the request's body is made once, when the purchase comes.
package struct Parcel: Equatable, Sendable {
    /// What stands in the body.
    package struct Content: Decodable, Equatable, Sendable {
        package let proof: String
        package let customer: String
        package let order: String?

        private enum CodingKeys: String, CodingKey {
            case proof
            case customer = "customer_id"
            case order = "order_id"
        }

        package init(proof: String, customer: String, order: String?) {
            self.proof = proof
            self.customer = customer
            self.order = order
        }
    }

    package let id: String
    /// JSON.
    package let body: String
    package let content: Content
    package let at: Date

    package init(id: String, proof: String, customer: String, order: String?, at: Date) {
        self.id = id
        self.at = at
        content = Content(proof: proof, customer: customer, order: order)
        body = JSONText.object([
            ("proof", .text(proof)), ("customer_id", .text(customer)), ("order_id", order.map { .text($0) }),
        ])
    }

    /// One that was written down: its body is sent as it stands there.
    ///
    /// - Returns: `nil` when the body is none.
    package init?(id: String, body: String, at: Date) {
        guard let content = try? JSONDecoder().decode(Content.self, from: Data(body.utf8)) else { return nil }
        self.id = id
        self.body = body
        self.content = content
        self.at = at
    }

    /// Whether the server takes it as an order's name.
    package static func isName(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) } && text != "."
            && text != ".."
    }

    /// Whether the server takes it as a customer's name: no word of those that programs write where a value is missing.
    package static func isCustomer(_ text: String) -> Bool {
        isName(text) && !wordsForNothing.contains(text.lowercased())
    }

    private static let wordsForNothing: Set<String> = [
        "null", "(null)", "<null>", "nil", "none", "nan", "undefined", "00000000-0000-0000-0000-000000000000",
    ]
}
