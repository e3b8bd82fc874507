import PurchaseModel
import Storage

/// What a customer has beside the purchase that was presented, in the same store: what lasts. A consumable is nobody's once it
/// was finished; a device shows it until then.
package struct RestOfCustomer {
    /// How much of it is told.
    package enum Wish: Sendable {
        case nothing
        /// All, if the customer owns the presented purchase. Of what is shared everybody may use it who shows it, under any name.
        case ifOwned
        /// All, if she may use it: to whoever may read by her name alone what she has.
        case ifUsable
    }

    private(set) var given: [Fulfilment] = []
    private(set) var known: [RecordedTransaction] = []
    private(set) var owners: [Owner] = []

    /// How many chains are asked for at once.
    private static let slice = 1_000

    /// - Parameters:
    ///   - customer: whose; `nil` for nobody's.
    ///   - realm: in which store.
    ///   - presented: the chains that are told already.
    ///   - app: what it sells, and what may be seen of it.
    ///   - reader: the ledger.
    /// - Throws: what a question throws.
    init(
        of customer: CustomerID?,
        in realm: Realm,
        but presented: [ChainKey],
        app: AppPolicy,
        _ reader: any StoreReader
    ) throws(StoreFailure) {
        guard let customer, app.shows(realm) else { return }
        let told = Set(presented)
        let chains = try reader.chains(app: app.id, customer: customer).filter {
            $0.realm == realm && !told.contains($0)
        }
        for start in stride(from: 0, to: chains.count, by: Self.slice) {
            let asked = Array(chains[start..<min(start + Self.slice, chains.count)])
            let lasting = try reader.fulfilments(asked).filter { !app.terms.isConsumable($0.product) }
            let rows = try reader.transactions(lasting.map(\.transaction)).filter { $0.transaction.kind != .consumable }
            given += lasting
            known += rows
            owners += try reader.owners(Array(Set(rows.map(\.chain))))
        }
    }
}

extension RestOfCustomer.Wish {
    /// For whom the rest is told, of those that may use what was presented.
    func customer(of submission: Submission, whoHave owners: [Owner]) -> CustomerID? {
        guard let customer = submission.customer else { return nil }
        let isTold = owners.contains { owner in
            switch self {
            case .nothing: false
            case .ifOwned: owner.customer == customer
            case .ifUsable: owner.mayUse(customer)
            }
        }
        return isTold ? customer : nil
    }
}

extension AppTerms {
    fileprivate func isConsumable(_ product: ProductID) -> Bool { products?[product]?.kind == .consumable }
}
