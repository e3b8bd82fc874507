package import PurchaseModel

/// An app with one of everything that the App Store sells: for a first try, for stories and for tests.
package enum DemoCatalogue {
    package static let bundleID = BundleID(checked: "com.example.demo")
    package static let appleID: Int64 = 1_234_567_890
    /// Where the example's shop has its subscriptions.
    package static let group = "21456789"
    package static let issuerID = "57246542-96fe-1a63-e053-0824d011072a"
    package static let sharedSecret = "0123456789abcdef0123456789abcdef"

    package static func product(_ name: String) -> ProductID { ProductID(checked: "\(bundleID.text).\(name)") }

    /// The app with all its products; without keys for the Server API and without a place for notifications.
    package static func app() -> StoreApp {
        var app = StoreApp(bundleID: bundleID, appleID: appleID, issuerID: issuerID, sharedSecret: sharedSecret)
        app.gracePeriod = GracePeriod(days: 16)
        for product in products { app.products[product.id] = product }
        return app
    }

    private static var products: [StoreProduct] {
        [
            good("coins.100", .consumable, 1, 990),
            good("coins.1000", .consumable, 2, 7_990),
            sword, season, weekly, monthly, yearly, premium, magazine,
        ]
    }

    private static var sword: StoreProduct {
        var product = good("sword", .nonConsumable, 3, 4_990)
        product.isFamilyShareable = true
        var code = StoreOffer(kind: .offerCode, identifier: "SWORD-GIFT", mode: .oneTime, period: .month, price: usd(0))
        code.price = usd(990)
        product.offers = [code]
        return product
    }

    private static var season: StoreProduct {
        var product = good("pass.season", .nonRenewing, 4, 9_990)
        product.period = BillingPeriod(3, .month)
        return product
    }

    private static var weekly: StoreProduct { plan("pro.weekly", 5, 1_990, .week, level: 2) }

    private static var monthly: StoreProduct {
        var product = plan("pro.monthly", 6, 4_990, .month, level: 2)
        var reduced = StoreOffer(
            kind: .promotional,
            identifier: "THREE-MONTHS-HALF",
            mode: .payAsYouGo,
            period: .month,
            price: usd(2_490)
        )
        reduced.periodCount = 3
        product.offers = [
            StoreOffer(
                kind: .introductory,
                identifier: "TRIAL",
                mode: .freeTrial,
                period: .week,
                price: usd(0)
            ),
            reduced,
            StoreOffer(
                kind: .offerCode,
                identifier: "WELCOME",
                mode: .freeTrial,
                period: .month,
                price: usd(0)
            ),
            StoreOffer(
                kind: .winBack,
                identifier: "COME-BACK",
                mode: .payUpFront,
                period: BillingPeriod(3, .month),
                price: usd(7_490)
            ),
        ]
        return product
    }

    private static var yearly: StoreProduct { plan("pro.yearly", 7, 39_990, .year, level: 2) }

    private static var premium: StoreProduct {
        var product = plan("premium.monthly", 8, 9_990, .month, level: 1)
        product.isFamilyShareable = true
        product.offers = [
            StoreOffer(
                kind: .promotional,
                identifier: "PREMIUM-FIRST-MONTH",
                mode: .payUpFront,
                period: .month,
                price: usd(990)
            )
        ]
        return product
    }

    /// As in the days of Newsstand; no longer made, but old receipts have it.
    private static var magazine: StoreProduct { good("magazine", .freeSubscription, 9, 0) }

    private static func plan(
        _ name: String,
        _ number: Int64,
        _ milliunits: Int64,
        _ period: BillingPeriod,
        level: Int
    ) -> StoreProduct {
        var product = good(name, .autoRenewable, number, milliunits)
        product.group = group
        product.level = level
        product.period = period
        return product
    }

    private static func good(_ name: String, _ kind: ProductKind, _ number: Int64, _ milliunits: Int64) -> StoreProduct
    {
        StoreProduct(id: product(name), kind: kind, appleID: 1_234_567_900 + number, price: usd(milliunits))
    }

    private static func usd(_ milliunits: Int64) -> Price { Price(milliunits: milliunits, currency: "USD") }
}
