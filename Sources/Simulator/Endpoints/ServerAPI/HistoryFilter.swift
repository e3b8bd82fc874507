import PurchaseModel

/// Which of a customer's transactions are wanted, and in which order. Source: Apple, *Get Transaction History*.
///
/// Several values of one name are alternatives; different names must all fit.
struct HistoryFilter: Sendable {
    private var startDate: Int64?
    private var endDate: Int64?
    private var products: Set<String> = []
    private var kinds: Set<ProductKind> = []
    private var groups: Set<String> = []
    private var ownership: Ownership?
    private var isRevoked: Bool?
    private(set) var isDescending = false

    init(_ query: Query) throws(ServerAPIError) {
        startDate = try query.milliseconds("startDate", else: .invalidStartDate)
        endDate = try query.milliseconds("endDate", else: .invalidEndDate)
        // Of an empty stretch Apple's page for this endpoint names no error of its own.
        if let startDate, let endDate, startDate >= endDate { throw .invalidStartDate }
        for text in try query.all("productId", else: .invalidProductID) {
            guard ProductID(text) != nil else { throw .invalidProductID }
            products.insert(text)
        }
        for text in try query.all("productType", else: .invalidProductType) {
            guard let kind = Self.kinds[text] else { throw .invalidProductType }
            kinds.insert(kind)
        }
        for text in try query.all("subscriptionGroupIdentifier", else: .invalidSubscriptionGroup) {
            groups.insert(try MerchantCall.id(text, else: .invalidSubscriptionGroup))
        }
        if let text = try query.one("inAppOwnershipType", else: .invalidOwnershipType) {
            guard let ownership = Self.ownerships[text] else { throw .invalidOwnershipType }
            self.ownership = ownership
        }
        isRevoked = try query.flag("revoked", else: .invalidRevoked)
        if try query.flag("excludeRevoked", else: .invalidExcludeRevoked) == true, isRevoked == nil {
            isRevoked = false
        }
        switch try query.one("sort", else: .invalidSort) {
        case nil, "ASCENDING"?: isDescending = false
        case "DESCENDING"?: isDescending = true
        default: throw .invalidSort
        }
    }

    func takes(_ sold: SoldTransaction) -> Bool {
        let fact = sold.fact
        let date = fact.purchasedAt.milliseconds
        return startDate.map { $0 <= date } ?? true && endDate.map { date < $0 } ?? true
            && (products.isEmpty || products.contains(fact.product.text))
            && (kinds.isEmpty || fact.kind.map(kinds.contains) ?? false)
            && (groups.isEmpty || fact.subscriptionGroup.map(groups.contains) ?? false)
            && (ownership == nil || fact.ownership == ownership)
            && (isRevoked == nil || sold.isRevoked == isRevoked)
    }

    /// The same for the same selection, however it is written.
    var scope: [String] {
        [
            startDate.map(String.init) ?? "", endDate.map(String.init) ?? "",
            products.sorted().joined(separator: " "), kinds.map(\.rawValue).sorted().joined(separator: " "),
            groups.sorted().joined(separator: " "), ownership?.rawValue ?? "", isRevoked.map(String.init) ?? "",
            isDescending ? "DESCENDING" : "ASCENDING",
        ]
    }

    private static let kinds: [String: ProductKind] = [
        "AUTO_RENEWABLE": .autoRenewable, "NON_RENEWABLE": .nonRenewing, "CONSUMABLE": .consumable,
        "NON_CONSUMABLE": .nonConsumable,
    ]
    private static let ownerships: [String: Ownership] = [
        "PURCHASED": .purchased, "FAMILY_SHARED": .familyShared, "ASSIGNED": .assigned,
    ]
}
