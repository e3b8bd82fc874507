import Encoding
import PurchaseModel

/// Reads `products`: what an app sells, and what each of it gives.
enum Catalogue {
    static let known = [
        "id", "kind", "goods", "period_days", "family_shared", "deliver_expired", "binding",
    ]
    private static let kinds: [ProductKind] = [
        .consumable, .nonConsumable, .autoRenewable, .nonRenewing, .freeSubscription,
    ]
    /// So that a balance has room for as many purchases as anybody makes.
    private static let amountMax: Int64 = 1_000_000_000_000

    static func read(_ value: JSONValue, at path: String, _ reader: inout MemberReader) -> [ProductTerms] {
        var products: [ProductID: ProductTerms] = [:]
        var order: [ProductID] = []
        let elements = reader.elements(value, at: path)
        for (path, value) in elements {
            guard let product = Self.product(value, at: path, &reader) else { continue }
            if products.updateValue(product, forKey: product.product) != nil {
                reader.fault("\(path).id", "stands there twice")
            } else {
                order.append(product.product)
            }
        }
        if elements.isEmpty, value.kind == .array {
            reader.fault(path, "must not be empty; leave it out to accept every product")
        }
        return order.compactMap { products[$0] }
    }

    private static func product(_ value: JSONValue, at path: String, _ reader: inout MemberReader) -> ProductTerms? {
        guard let object = reader.object(value, at: path, known: known) else { return nil }
        let id = reader.required(object, "id", at: path).flatMap { value in
            reader.identifier(value, at: "\(path).id", "1 to 255 printable ASCII characters", ProductID.init(_:))
        }
        let kind = reader.required(object, "kind", at: path).flatMap { Self.kind($0, at: "\(path).kind", &reader) }
        let goods = object["goods"].map { Self.goods($0, at: "\(path).goods", &reader) } ?? []
        let days = object["period_days"].flatMap { reader.whole($0, at: "\(path).period_days", 1...36_500) }
        if days != nil, kind != nil, kind != .nonRenewing {
            reader.fault("\(path).period_days", "only a non_renewing_subscription has a period of ours")
        }
        let isShared = object["family_shared"].flatMap { reader.bool($0, at: "\(path).family_shared") }
        let isLate = object["deliver_expired"].flatMap { reader.bool($0, at: "\(path).deliver_expired") }
        let binding = object["binding"].flatMap { reader.word($0, at: "\(path).binding", BindingRule.self) }
        guard let id, let kind else { return nil }
        return ProductTerms(
            product: id,
            kind: kind,
            goods: goods,
            period: days.map { .seconds($0 * 86_400) },
            isFamilyShared: isShared ?? false,
            deliversExpired: isLate ?? false,
            binding: binding
        )
    }

    private static func kind(_ value: JSONValue, at path: String, _ reader: inout MemberReader) -> ProductKind? {
        let names = kinds.map(\.rawValue)
        guard let kind = reader.text(value, at: path) else { return nil }
        guard names.contains(kind) else {
            reader.fault(path, MemberReader.oneOf(names) + Suggestion.phrase(for: kind, among: names))
            return nil
        }
        return ProductKind(rawValue: kind)
    }

    private static func goods(_ value: JSONValue, at path: String, _ reader: inout MemberReader) -> [Goods] {
        var all: [Goods] = []
        var currencies: Set<CurrencyID> = []
        let elements = reader.elements(value, at: path)
        if elements.count > ProductTerms.goodsMax {
            reader.fault(
                path,
                "at most \(ProductTerms.goodsMax) goods, and these are \(elements.count); give one entitlement for what "
                    + "belongs together"
            )
            return []
        }
        for (path, value) in elements {
            guard let goods = one(value, at: path, &reader) else { continue }
            if case .amount(_, let currency) = goods, !currencies.insert(currency).inserted {
                reader.fault("\(path).currency", "stands there twice")
            }
            all.append(goods)
        }
        return all
    }

    /// `{"entitlement": "premium"}` or `{"currency": "gems", "amount": 100}`.
    private static func one(_ value: JSONValue, at path: String, _ reader: inout MemberReader) -> Goods? {
        guard let object = reader.object(value, at: path, known: ["entitlement", "currency", "amount"]) else {
            return nil
        }
        if let value = object["entitlement"] {
            if object["currency"] != nil || object["amount"] != nil {
                reader.fault(path, "is an entitlement or an amount of a currency, not both")
            }
            return reader.identifier(value, at: "\(path).entitlement", EntitlementID.rule, EntitlementID.init(given:))
                .map {
                    .entitlement($0)
                }
        }
        let currency = reader.required(object, "currency", at: path).flatMap { value in
            reader.identifier(value, at: "\(path).currency", CurrencyID.rule, CurrencyID.init(given:))
        }
        let amount = reader.required(object, "amount", at: path).flatMap { value in
            reader.whole(value, at: "\(path).amount", 1...amountMax)
        }
        guard let currency, let amount else { return nil }
        return .amount(amount, currency)
    }
}
