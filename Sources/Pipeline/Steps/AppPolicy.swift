package import PurchaseModel
import Storage

/// What one app accepts: the visible step after verification, never a condition of it.
package struct AppPolicy: Hashable, Sendable {
    package let id: AppID
    package let bundleID: BundleID
    /// The app's number in the App Store, compared where Production signs it.
    package let appleID: Int64?
    package let environments: Set<StoreEnvironment>
    /// How it delivers what was bought: the catalogue, whether against orders, to whom.
    package let terms: AppTerms
    /// Whether what only a test authority signed is recorded: behind a wall of its own, see `Realm`.
    package let acceptsTestSigned: Bool
    /// Whether Apple is asked, when a customer first buys, what else that customer has bought.
    package let readsHistory: Bool
    /// The stores of which whoever asks may know; `nil` for all.
    package let sight: Set<StoreEnvironment>?

    package init(
        id: AppID,
        bundleID: BundleID,
        appleID: Int64? = nil,
        environments: Set<StoreEnvironment> = [.production],
        acceptsTestSigned: Bool = false,
        terms: AppTerms = AppTerms(),
        readsHistory: Bool = false,
        sight: Set<StoreEnvironment>? = nil
    ) {
        self.id = id
        self.bundleID = bundleID
        self.appleID = appleID
        self.environments = environments
        self.acceptsTestSigned = acceptsTestSigned
        self.terms = terms
        self.readsHistory = readsHistory
        self.sight = sight
    }

    /// The same for whoever may bring proofs of these stores only, and know of no others.
    package func limited(to environments: Set<StoreEnvironment>) -> AppPolicy {
        AppPolicy(
            id: id,
            bundleID: bundleID,
            appleID: appleID,
            environments: self.environments.intersection(environments),
            acceptsTestSigned: acceptsTestSigned,
            terms: terms,
            readsHistory: readsHistory,
            sight: sight.map(environments.intersection) ?? environments
        )
    }

    /// The same for what was kept: whoever brought it may have been limited to some stores.
    func limited(for kept: KeptSubmission) -> AppPolicy {
        kept.submission.environments.map { limited(to: $0) } ?? self
    }

    /// Whether what stands on this side of the wall is there for whoever asks.
    package func shows(_ realm: Realm) -> Bool { sight?.contains(realm.environment) ?? true }

    /// The sides of the wall that are there for whoever asks; `nil` for all.
    package var sides: Set<Realm>? { showsAll ? nil : Set(Realm.known.filter(shows)) }

    /// Whether what is counted over all stores is there for whoever asks: who may know of some reads the others from it.
    package var showsAll: Bool { sight == nil }

    /// The products of the catalogue; `nil` accepts any of the app.
    var products: Set<ProductID>? { terms.products.map { Set($0.keys) } }
}

extension Order {
    /// Whether it is there for whoever asks: what has paid it may stand where that one sees nothing.
    package func isShown(by app: AppPolicy) -> Bool { payment.map { app.shows($0.realm) } ?? true }
}
