import PurchaseModel
import Simulator

/// What the app of these lives gives for what it sells: everything to everybody, families and testers too, so that all
/// that is bought can be seen in what may be used.
enum Wares {
    private static let season = Duration.seconds(90 * 86_400)

    static func terms(until end: Timestamp) -> AppTerms {
        AppTerms(
            products: Dictionary(
                uniqueKeysWithValues: products.map { product in
                    var product = product
                    product.isFamilyShared = true
                    return (product.product, product)
                }
            ),
            sandbox: .everybody(until: end)
        )
    }

    private static var products: [ProductTerms] {
        [
            ProductTerms(product: named("coins.100"), kind: .consumable),
            ProductTerms(product: named("coins.1000"), kind: .consumable),
            ProductTerms(product: named("sword"), kind: .nonConsumable, goods: [.entitlement(of("sword"))]),
            ProductTerms(
                product: named("pass.season"),
                kind: .nonRenewing,
                goods: [.entitlement(of("pass.season"))],
                period: season
            ),
            ProductTerms(product: named("magazine"), kind: .freeSubscription),
        ]
            + ["pro.weekly", "pro.monthly", "pro.yearly", "premium.monthly"].map {
                ProductTerms(product: named($0), kind: .autoRenewable, goods: [.entitlement(of($0))])
            }
    }

    private static func named(_ name: String) -> ProductID { DemoCatalogue.product(name) }
    private static func of(_ name: String) -> EntitlementID { EntitlementID(checked: name) }

    /// What a product gives.
    static func entitlement(of product: ProductID) -> EntitlementID? {
        products.first { $0.product == product }?.goods.lazy.compactMap { goods -> EntitlementID? in
            if case .entitlement(let id) = goods { id } else { nil }
        }.first
    }

    /// Until when a purchase that is no subscription may be used; nil for what gives nothing.
    static func accessUntil(_ purchase: PurchaseTruth) -> Access? {
        guard purchase.revokedAt == nil else { return nil }
        switch purchase.kind {
        case .nonConsumable?: return .forEver
        case .nonRenewing?:
            return .until(Timestamp(seconds: purchase.purchasedAt).advanced(by: season * purchase.quantity))
        default: return nil
        }
    }
}

/// How long something may be used.
enum Access: Hashable, Comparable, Sendable {
    case until(Timestamp)
    case forEver

    static func < (one: Access, other: Access) -> Bool {
        switch (one, other) {
        case (.until(let left), .until(let right)): left < right
        case (.until, .forEver): true
        case (.forEver, _): false
        }
    }

    func lasts(after now: Timestamp) -> Bool {
        if case .until(let end) = self { now < end } else { true }
    }
}
