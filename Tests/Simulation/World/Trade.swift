import Pipeline
import PurchaseModel
import Simulator

/// The app of a run and how it delivers: drawn by the seed, so that every policy has its seeds.
enum Trade {
    static let app = AppID(checked: "demo")
    static let key = "sk_simulated_0123456789abcdef0123456789"
    static let coins = CurrencyID(checked: "coins")
    static let start = Timestamp(seconds: 1_764_590_400)
    /// Whom the sandbox delivers to, where it delivers to some.
    static let tester = CustomerID(checked: "customer-3")

    static let products: [ProductTerms] = [
        ProductTerms(product: named("coins.100"), kind: .consumable, goods: [.amount(100, coins)]),
        ProductTerms(product: named("coins.1000"), kind: .consumable, goods: [.amount(1_000, coins)]),
        ProductTerms(
            product: named("sword"),
            kind: .nonConsumable,
            goods: [.entitlement(EntitlementID(checked: "sword")), .amount(5, coins)]
        ),
        ProductTerms(
            product: named("pass.season"),
            kind: .nonRenewing,
            goods: [.entitlement(EntitlementID(checked: "season"))],
            period: .seconds(90 * 86_400)
        ),
        plan("pro.weekly", 10),
        plan("pro.monthly", 50),
        plan("pro.yearly", 0),
        plan("premium.monthly", 80),
    ]

    static func terms(_ dice: Dice) -> AppTerms {
        var products = Self.products
        for place in products.indices {
            products[place].isFamilyShared = dice.happens(oneIn: 2)
            products[place].deliversExpired = dice.happens(oneIn: 2)
        }
        return AppTerms(
            products: Dictionary(uniqueKeysWithValues: products.map { ($0.product, $0) }),
            needsOrder: dice.happens(oneIn: 3),
            binding: dice.pick(BindingRule.allCases),
            sandbox: dice.pick([
                .recordOnly, .customers([tester]), .everybody(until: start.advanced(by: .seconds(4_000 * 86_400))),
            ]),
            allowsNegativeBalance: dice.happens(oneIn: 2)
        )
    }

    static func policy(_ terms: AppTerms) -> AppPolicy {
        AppPolicy(
            id: app,
            bundleID: DemoCatalogue.bundleID,
            appleID: DemoCatalogue.appleID,
            environments: [.production, .sandbox],
            acceptsTestSigned: true,
            terms: terms
        )
    }

    /// The side of the wall for what the simulator sells there.
    static func realm(_ environment: StoreEnvironment) -> Realm {
        Realm(environment: environment, isTestSigned: true)
    }

    private static func named(_ name: String) -> ProductID { DemoCatalogue.product(name) }

    private static func plan(_ name: String, _ amount: Int64) -> ProductTerms {
        var goods: [Goods] = [.entitlement(EntitlementID(checked: name.hasPrefix("premium") ? "premium" : "pro"))]
        if amount > 0 { goods.append(.amount(amount, coins)) }
        return ProductTerms(product: named(name), kind: .autoRenewable, goods: goods)
    }
}
