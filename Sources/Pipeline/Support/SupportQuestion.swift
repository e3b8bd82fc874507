import Encoding
package import PurchaseModel

/// What people who help customers have Apple asked, or told.
package enum SupportQuestion: Hashable, Sendable {
    /// By the order's number in Apple's mail to the customer.
    case lookUpOrder(String)
    /// Free days for one subscription.
    case extend(TransactionID, StoreEnvironment, ExtensionTerms)
    /// Free days for all who subscribe to a product; `nil` for all storefronts.
    case extendAll(ProductID, StoreEnvironment, ExtensionTerms, storefronts: [String]?)
    /// Whose a purchase is that was made outside of the app.
    case setToken(AccountToken, TransactionID, StoreEnvironment)
    /// The same of all that a customer has bought.
    case setTokens(AccountToken, CustomerID, StoreEnvironment)

    /// A word of ours; it stands in rows.
    package var kind: String {
        switch self {
        case .lookUpOrder: "order.look_up"
        case .extend: "subscription.extend"
        case .extendAll: "subscriptions.extend"
        case .setToken: "account_token.set"
        case .setTokens: "account_token.set_all"
        }
    }

    /// On which side of the wall it is asked; what nobody says of it is production's.
    package var realm: Realm {
        let environment =
            switch self {
            case .lookUpOrder: StoreEnvironment.production
            case .extend(_, let store, _), .extendAll(_, let store, _, _), .setToken(_, _, let store),
                .setTokens(_, _, let store):
                store
            }
        return Realm(environment: environment, isTestSigned: false)
    }

    package var json: [UInt8] { JSONWriter.object { write(into: &$0) } }

    private func write(into json: inout JSONObjectWriter) {
        switch self {
        case .lookUpOrder(let order): json.member("order_id", order)
        case .extend(let id, let store, let terms):
            json.member("original_transaction_id", id.description)
            terms.write(into: &json)
            json.member("environment", store.rawValue)
        case .extendAll(let product, let store, let terms, let storefronts):
            json.member("product_id", product.text)
            terms.write(into: &json)
            if let storefronts {
                json.array("storefronts") { json in
                    for storefront in storefronts { json.element(storefront) }
                }
            }
            json.member("environment", store.rawValue)
        case .setToken(let token, let id, let store):
            json.member("app_account_token", token.description)
            json.member("original_transaction_id", id.description)
            json.member("environment", store.rawValue)
        case .setTokens(let token, let customer, let store):
            json.member("app_account_token", token.description)
            json.member("customer_id", customer.text)
            json.member("environment", store.rawValue)
        }
    }

    /// `nil` for what no version of ours has written.
    package init?(kind: String, _ bytes: [UInt8]) {
        guard let object = try? JSONDocument(bytes).root.object else { return nil }
        let store = object["environment"]?.string.map { StoreEnvironment(rawValue: $0) }
        let original = object["original_transaction_id"]?.string.flatMap { TransactionID($0) }
        let token = object["app_account_token"]?.string.flatMap { UUIDText.halves($0) }
            .map { AccountToken(high: $0.high, low: $0.low) }
        switch kind {
        case "order.look_up":
            guard let order = object["order_id"]?.string else { return nil }
            self = .lookUpOrder(order)
        case "subscription.extend":
            guard let original, let store, let terms = ExtensionTerms(object) else { return nil }
            self = .extend(original, store, terms)
        case "subscriptions.extend":
            guard let product = object["product_id"]?.string.flatMap({ ProductID($0) }), let store,
                let terms = ExtensionTerms(object)
            else { return nil }
            let storefronts = object["storefronts"]?.array?.compactMap(\.string)
            self = .extendAll(product, store, terms, storefronts: storefronts)
        case "account_token.set":
            guard let token, let original, let store else { return nil }
            self = .setToken(token, original, store)
        case "account_token.set_all":
            guard let token, let customer = object["customer_id"]?.string.flatMap({ CustomerID($0) }), let store else {
                return nil
            }
            self = .setTokens(token, customer, store)
        default: return nil
        }
    }
}

/// By how much a renewal is put off, and why.
package struct ExtensionTerms: Hashable, Sendable {
    /// Apple's longest.
    package static let daysRange: ClosedRange<Int64> = 1...90

    package let days: Int
    package let reason: ExtensionReason

    package init(days: Int, reason: ExtensionReason) {
        self.days = days
        self.reason = reason
    }

    fileprivate init?(_ object: JSONObject) {
        guard let days = object["days"]?.int64, Self.daysRange.contains(days),
            let reason = object["reason"]?.string.flatMap({ ExtensionReason(rawValue: $0) })
        else { return nil }
        self.init(days: Int(days), reason: reason)
    }

    fileprivate func write(into json: inout JSONObjectWriter) {
        json.member("days", days)
        json.member("reason", reason.rawValue)
    }
}

/// Why a renewal is put off. Stable words of the API.
package enum ExtensionReason: String, Hashable, Sendable, CaseIterable {
    case undeclared
    case customerSatisfaction = "customer_satisfaction"
    case other
    case serviceIssue = "service_issue"

    /// Apple's number.
    package var number: Int64 {
        switch self {
        case .undeclared: 0
        case .customerSatisfaction: 1
        case .other: 2
        case .serviceIssue: 3
        }
    }
}
