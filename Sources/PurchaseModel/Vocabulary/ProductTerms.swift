/// What an app promises for a product: how it is sold, and what its buyer gets.
package struct ProductTerms: Hashable, Sendable {
    /// How many goods one product may give. Each stands in every row and answer about each of its purchases, and in the books
    /// of each of its customers; more than these are better one entitlement, and the shop's own list of what it opens.
    package static let goodsMax = 500

    package var product: ProductID
    /// What Apple says beats it; a contradiction is kept for a person to look at, and nothing is given.
    package var kind: ProductKind
    /// What one of it gives; as many times as were bought.
    package var goods: [Goods]
    /// How long one of a non-renewing subscription lasts, so many of them one after another: Apple does not say.
    package var period: Duration?
    /// Whether a member of the buyer's family gets it, too.
    package var isFamilyShared: Bool
    /// Whether a period of a subscription that was over before we heard of it still gives its amounts.
    package var deliversExpired: Bool
    /// `nil` takes the app's.
    package var binding: BindingRule?

    package init(
        product: ProductID,
        kind: ProductKind,
        goods: [Goods] = [],
        period: Duration? = nil,
        isFamilyShared: Bool = false,
        deliversExpired: Bool = false,
        binding: BindingRule? = nil
    ) {
        self.product = product
        self.kind = kind
        self.goods = goods
        self.period = period
        self.isFamilyShared = isFamilyShared
        self.deliversExpired = deliversExpired
        self.binding = binding
    }
}

/// Something that a product gives.
package enum Goods: Hashable, Sendable {
    /// The right to use something: for ever, or as long as the purchase lasts.
    case entitlement(EntitlementID)
    /// So much of a currency of the app's own.
    case amount(Int64, CurrencyID)
}

/// What happens when a customer presents what belongs to another one. Somebody else's consumable is always refused.
package enum BindingRule: String, Hashable, Sendable, CaseIterable {
    case refuse
    /// It belongs to whoever presented it last.
    case transfer
    /// The same, but only once nothing of it is in force any more.
    case transferIfInactive = "transfer_if_inactive"
    /// Both may use it.
    case share
}

extension BindingRule {
    /// Whether it takes less than another one from whom something belongs to: who shares it has it still.
    func takesLess(than other: BindingRule) -> Bool { severity < other.severity }

    private var severity: Int {
        switch self {
        case .refuse: 0
        case .transferIfInactive: 1
        case .share: 2
        case .transfer: 3
        }
    }
}
