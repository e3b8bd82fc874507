/// How an app delivers what was bought from it: the operator's policy, looked at after verification.
package struct AppTerms: Hashable, Sendable {
    /// `nil` when the app has no catalogue: then what Apple says of a product is all there is to know of it.
    package var products: [ProductID: ProductTerms]?
    /// Whether a purchase gives nothing until an order is found that it pays.
    package var needsOrder: Bool
    package var binding: BindingRule
    package var sandbox: SandboxRule
    /// Whether a refund takes back more than is left, so that a balance is negative until the next purchase.
    package var allowsNegativeBalance: Bool
    package var consumption: ConsumptionTerms

    package init(
        products: [ProductID: ProductTerms]? = nil,
        needsOrder: Bool = false,
        binding: BindingRule = .refuse,
        sandbox: SandboxRule = .recordOnly,
        allowsNegativeBalance: Bool = true,
        consumption: ConsumptionTerms = ConsumptionTerms()
    ) {
        self.products = products
        self.needsOrder = needsOrder
        self.binding = binding
        self.sandbox = sandbox
        self.allowsNegativeBalance = allowsNegativeBalance
        self.consumption = consumption
    }

    /// The currencies that products give, by name; `nil` where none gives any.
    package var currencies: [CurrencyID]? {
        var found: Set<CurrencyID> = []
        for product in (products ?? [:]).values {
            for case .amount(_, let currency) in product.goods { found.insert(currency) }
        }
        return found.isEmpty ? nil : found.sorted()
    }

    func binding(of product: ProductID) -> BindingRule {
        products?[product]?.binding ?? binding
    }
}

/// To whom purchases from Apple's sandbox, and from Xcode, are delivered. They cost nothing.
///
/// An app that takes none at all leaves the environment out of those that it accepts.
package enum SandboxRule: Hashable, Sendable {
    case recordOnly
    case customers(Set<CustomerID>)
    /// For App Review, which buys in the sandbox with the app that customers get. It ends by itself.
    case everybody(until: Timestamp)

    func delivers(to customer: CustomerID, at now: Timestamp) -> Bool {
        switch self {
        case .recordOnly: false
        case .customers(let customers): customers.contains(customer)
        case .everybody(let end): now < end
        }
    }
}
