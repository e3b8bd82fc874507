package import PurchaseModel

/// What an app sells, as App Store Connect knows it.
package struct StoreProduct: Hashable, Sendable {
    package var id: ProductID
    package var kind: ProductKind
    /// Apple's number for the product.
    package var appleID: Int64
    /// In the base storefront's currency.
    package var price: Price
    /// By storefront, ISO 3166-1 alpha-3; the base price elsewhere.
    package var pricesElsewhere: [String: Price] = [:]
    /// Auto-renewable subscriptions: the group's number, in decimal digits.
    package var group: String?
    /// Auto-renewable subscriptions: 1 is the highest level of its group.
    package var level = 1
    /// Auto-renewable subscriptions, and non-renewing ones whose merchant counts so.
    package var period: BillingPeriod?
    package var isFamilyShareable = false
    package var offers: [StoreOffer] = []
    /// False once it was taken from sale: nothing is sold and nothing renews.
    package var isForSale = true

    package init(id: ProductID, kind: ProductKind, appleID: Int64, price: Price) {
        self.id = id
        self.kind = kind
        self.appleID = appleID
        self.price = price
    }

    package func price(in storefront: Storefront) -> Price {
        pricesElsewhere[storefront.country] ?? price
    }

    package func offer(_ identifier: String) -> StoreOffer? {
        offers.first { $0.identifier == identifier }
    }

    /// A group has at most one introductory offer for each product.
    package var introductoryOffer: StoreOffer? {
        offers.first { $0.kind == .introductory }
    }
}

/// A cheaper beginning, or a reason to come back. Source: Apple, *Auto-renewable subscriptions*, offers.
package struct StoreOffer: Hashable, Sendable {
    /// How an offer is paid. The raw value is Apple's word.
    package enum Mode: String, Hashable, Sendable, CaseIterable {
        case freeTrial = "FREE_TRIAL"
        /// Reduced for some periods, each a transaction of its own.
        case payAsYouGo = "PAY_AS_YOU_GO"
        /// One payment for one longer period.
        case payUpFront = "PAY_UP_FRONT"
        /// Offer codes for what is sold once.
        case oneTime = "ONE_TIME"
    }

    package var kind: OfferKind
    /// The id in App Store Connect, or the reference name of an offer code. Introductory offers have none on the wire.
    package var identifier: String
    package var mode: Mode
    /// Of the offer: a trial's length, one discounted period, or the whole of what is paid up front.
    package var period: BillingPeriod
    /// How many periods are reduced; only ``Mode/payAsYouGo`` has more than one.
    package var periodCount = 1
    /// 0 for a trial.
    package var price: Price

    package init(kind: OfferKind, identifier: String, mode: Mode, period: BillingPeriod, price: Price) {
        self.kind = kind
        self.identifier = identifier
        self.mode = mode
        self.period = period
        self.price = price
    }

    /// As it stands in a signed fact.
    package var fact: Offer {
        Offer(
            kind: kind,
            identifier: kind == .introductory ? nil : identifier,
            discount: mode.rawValue,
            period: period.description
        )
    }
}

/// The App Store of one country.
package struct Storefront: Hashable, Sendable {
    /// ISO 3166-1 alpha-3.
    package let country: String
    /// Apple's number, in decimal digits.
    package let number: String
    /// ISO 4217.
    package let currency: String

    package init(country: String, number: String, currency: String) {
        self.country = country
        self.number = number
        self.currency = currency
    }

    /// Some of Apple's 175. Numbers: Apple, *Storefront country codes* in the affiliate documentation.
    package static let all = [
        Storefront(country: "USA", number: "143441", currency: "USD"),
        Storefront(country: "DEU", number: "143443", currency: "EUR"),
        Storefront(country: "FRA", number: "143442", currency: "EUR"),
        Storefront(country: "GBR", number: "143444", currency: "GBP"),
        Storefront(country: "JPN", number: "143462", currency: "JPY"),
        Storefront(country: "CHN", number: "143465", currency: "CNY"),
        Storefront(country: "KOR", number: "143466", currency: "KRW"),
        Storefront(country: "MEX", number: "143468", currency: "MXN"),
        Storefront(country: "BRA", number: "143503", currency: "BRL"),
        Storefront(country: "IND", number: "143467", currency: "INR"),
    ]

    package static let unitedStates = all[0]

    package static func of(country: String) -> Storefront? { all.first { $0.country == country } }
}
