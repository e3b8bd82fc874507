public import Foundation

/// Something that a customer may use now.
public struct Entitlement: Hashable, Sendable {
    /// Its name in the shop's catalogue.
    public let name: String
    /// When it ends; `nil` for what lasts.
    public let until: Date?
    /// What was bought; `nil` for what a person granted.
    public let productID: String?
    /// The transaction that gives it; `nil` for what a person granted.
    public let transactionID: String?
    /// `production`, or another store of Apple's in the server's words: `sandbox`, `xcode`, `local_testing`.
    public let environment: String
    /// Whether only a test authority vouches for it.
    public let isTestSigned: Bool

    private struct Answer: Decodable {
        struct Row: Decodable {
            let name: String
            let until: String?
            let product: String?
            let transaction: String?
            let environment: String
            let isTestSigned: Bool?

            enum CodingKeys: String, CodingKey {
                case until, environment
                case name = "entitlement"
                case product = "product_id"
                case transaction = "transaction_id"
                case isTestSigned = "test_signed"
            }
        }

        let entitlements: [Row]
    }

    /// All in an answer; `nil` when it is none of the server's.
    static func list(_ body: [UInt8]) -> [Entitlement]? {
        guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(body)) else { return nil }
        var found: [Entitlement] = []
        for row in answer.entitlements {
            let until = row.until.map(moment)
            // What cannot be read must not look as if it lasted for ever.
            if case .some(nil) = until { return nil }
            found.append(Entitlement(row, until: until ?? nil))
        }
        return found
    }

    private init(_ row: Answer.Row, until: Date?) {
        name = row.name
        self.until = until
        productID = row.product
        transactionID = row.transaction
        environment = row.environment
        isTestSigned = row.isTestSigned ?? false
    }

    /// RFC 3339 in UTC, with milliseconds or without.
    private static func moment(_ text: String) -> Date? {
        [Date.ISO8601FormatStyle(includingFractionalSeconds: true), Date.ISO8601FormatStyle()].lazy
            .compactMap { try? Date(text, strategy: $0) }.first
    }
}
