import Encoding
import PurchaseModel

/// Reads how an app delivers: against orders or not, to whom, and what happens after refunds.
enum DeliveryReader {
    static let known = ["needs_orders", "binding", "sandbox", "allow_negative_balance"]

    static func read(_ object: JSONObject, at path: String, _ reader: inout MemberReader) -> Configuration.Delivery {
        var delivery = Configuration.Delivery()
        if let value = object["needs_orders"], let needs = reader.bool(value, at: "\(path).needs_orders") {
            delivery.needsOrders = needs
        }
        if let value = object["binding"], let rule = reader.word(value, at: "\(path).binding", BindingRule.self) {
            delivery.binding = rule
        }
        if let value = object["sandbox"], let rule = sandbox(value, at: "\(path).sandbox", &reader) {
            delivery.sandbox = rule
        }
        if let value = object["allow_negative_balance"],
            let allows = reader.bool(value, at: "\(path).allow_negative_balance")
        {
            delivery.allowsNegativeBalance = allows
        }
        return delivery
    }

    /// `"record_only"`, `{"customers": ["reviewer"]}` or `{"everybody_until": "2026-12-01T00:00:00Z"}`.
    private static func sandbox(_ value: JSONValue, at path: String, _ reader: inout MemberReader) -> SandboxRule? {
        if let word = value.string {
            guard word == "record_only" else {
                reader.fault(path, "must be record_only, or an object with customers or everybody_until")
                return nil
            }
            return .recordOnly
        }
        guard let object = reader.object(value, at: path, known: ["customers", "everybody_until"]) else { return nil }
        switch (object["customers"], object["everybody_until"]) {
        case (let list?, nil):
            let customers = reader.elements(list, at: "\(path).customers").compactMap { path, value in
                reader.identifier(value, at: path, CustomerID.rule, CustomerID.init(given:))
            }
            return .customers(Set(customers))
        case (nil, let end?):
            return reader.identifier(end, at: "\(path).everybody_until", "a moment such as 2026-12-01T00:00:00Z") {
                RFC3339.milliseconds($0).map { .everybody(until: Timestamp(milliseconds: $0)) }
            }
        default:
            reader.fault(path, "needs customers or everybody_until, and not both")
            return nil
        }
    }
}
