import Crypto
import HTTP
import PurchaseModel
import Simulator
import Synchronization
import TestSupport

/// A proof of purchase as a device holds it, and what is true of it.
struct PurchaseProof: Sendable {
    let text: String
    let fact: Transaction
    let environment: StoreEnvironment
    /// What the app says that it is for.
    var order: OrderID?

    var key: TransactionKey {
        TransactionKey(app: Trade.app, realm: Trade.realm(environment), id: fact.id)
    }
}

/// The simulated App Store of a run, with a memory of every fact that it has signed: the truth.
final class AppStore: Sendable {
    let simulator: AppStoreSimulator
    private let signer: StoreSigner
    private let clock: ManualClock
    private let signed = Mutex<[TransactionID: [Transaction]]>([:])

    static let signer = Result { () throws(CryptoError) in try StoreSigner(TestAuthority.shared) }
    /// An authority of the same names that nobody trusts.
    private static let attacker = Result { () throws(CryptoError) in
        let validity = AuthorityValidity(Timestamp(seconds: 1_577_836_800)...Timestamp(seconds: 2_208_988_800))
        return try StoreSigner(SimulatorAuthority(validity: validity))
    }

    init(customers: [StoreCustomer], isTold: Bool, clock: ManualClock, seed: UInt64) throws {
        var store = SimulatedStore(startingAt: clock.now, seed: seed)
        var app = DemoCatalogue.app()
        if isTold {
            app.productionNotifications = NotificationTarget(url: "https://assay.example/apple")
            app.sandboxNotifications = app.productionNotifications
        }
        store.set(app)
        for customer in customers { store.set(customer) }
        simulator = AppStoreSimulator(store, authority: TestAuthority.shared, wallClock: clock)
        signer = try Self.signer.get()
        self.clock = clock
    }

    /// Lets the store's time follow the clock.
    func catchUp() {
        simulator.change { $0.advance(to: clock.now) }
    }

    /// - Returns: what was sold or changed; nothing when the store refuses.
    @discardableResult
    func perform(_ act: Act) -> [TransactionID] {
        // Before and after are two moments: of two facts that were signed at one nobody could tell which is newer.
        clock.advance(by: .milliseconds(1))
        catchUp()
        defer {
            clock.advance(by: .milliseconds(1))
            catchUp()
        }
        guard let outcome = try? simulator.perform(act), case .done(let transactions) = outcome else { return [] }
        return transactions
    }

    /// All of a customer's transactions, in the order in which they were made.
    func owned(by customer: String) -> [SoldTransaction] {
        simulator.read { $0.transactions(of: SimulatedStore.Owner(customer: customer, app: DemoCatalogue.bundleID)) }
    }

    /// Signs a transaction as it is now.
    func proof(of id: TransactionID, order: OrderID? = nil) throws -> PurchaseProof? {
        let found = simulator.read { store in
            store.transactions[id].flatMap { sold in store.apps[sold.app].map { (sold, $0, store.now) } }
        }
        guard let (sold, app, now) = found else { return nil }
        var fact = sold.fact
        fact.signedAt = now
        signed.withLock { $0[id, default: []].append(fact) }
        let text = try signer.transaction(sold, of: app, at: now)
        return PurchaseProof(text: text, fact: fact, environment: sold.environment, order: order)
    }

    /// The same transaction in the words of somebody who has no key of Apple's.
    func forgery(of id: TransactionID) throws -> String? {
        let found = simulator.read { store in
            store.transactions[id].flatMap { sold in store.apps[sold.app].map { (sold, $0, store.now) } }
        }
        guard let (sold, app, now) = found else { return nil }
        return try Self.attacker.get().transaction(sold, of: app, at: now)
    }

    /// Everything that was ever signed about a transaction, in notifications, too.
    func facts() -> [TransactionID: [Transaction]] {
        var facts = signed.withLock { $0 }
        for notice in simulator.read(\.notices) {
            guard case .purchase(let purchase) = notice.subject else { continue }
            var fact = purchase.transaction.fact
            fact.signedAt = notice.at
            facts[fact.id, default: []].append(fact)
        }
        return facts
    }
}
