import PurchaseModel
import Simulator

/// What must hold, recomputed from what the store holds, what the App Store sold, what those outside were told and what
/// the shop heard. The names are those of the invariants.
struct Audit {
    let world: World
    let store: Snapshot
    /// What the App Store ever sold.
    let sold: [TransactionID: SoldTransaction]
    /// What was ever signed.
    let facts: [TransactionID: [Transaction]]
    let told: Witness.Testimony

    init(of world: World) async throws {
        self.world = world
        sold = world.appStore.simulator.read(\.transactions)
        facts = world.appStore.facts()
        told = world.witness.testimony
        store = try await Snapshot.take(of: world)
    }

    /// At any moment.
    func always() {
        checkStreams()
        checkOrders()
        checkWallets()
        checkGrants()
        checkRecords()
        checkTestimonies()
        checkAcknowledgements()
    }

    /// Once everything has been presented and told.
    func afterwards() {
        checkTruth()
        checkEntitlements()
        checkDeliveries()
        checkStory()
        checkGranted()
    }

    func expect(_ holds: Bool, _ invariant: String, _ detail: @autoclosure () -> String) {
        world.findings.expect(holds, invariant, detail())
    }

    func key(_ sold: SoldTransaction) -> TransactionKey {
        TransactionKey(app: Trade.app, realm: Trade.realm(sold.environment), id: sold.id)
    }

    /// Whether anything from there is delivered to a customer.
    func isDelivered(_ realm: Realm, to customer: CustomerID) -> Bool {
        guard realm.environment != .production else { return true }
        switch world.terms.sandbox {
        case .recordOnly: return false
        case .customers(let customers): return customers.contains(customer)
        case .everybody: return true
        }
    }
}
