import Pipeline
import PurchaseModel
import Simulator
import TestSupport

/// The app on the customers' devices: it sends what was bought, at once or when it is opened next, as signed transactions
/// or, of every fifth customer, as a receipt.
struct CustomerApps {
    private static let signer = Result { try StoreSigner(TestAuthority.shared) }
    private static let receipts = Result { CustomerReceipts(TestAuthority.shared) }
    private static let closedMax = 10 * 86_400

    private let town: Town
    private let dice: Dice
    /// It sends everything at once.
    private let isEager: Bool
    private var seen = 0
    private var unsent: [(customer: String, id: TransactionID)] = []
    private var openings: [(customer: String, at: Timestamp)] = []
    /// Original transactions whose customer has been told.
    private(set) var presented: Set<TransactionID> = []

    init(_ town: Town, _ dice: Dice, isEager: Bool) {
        self.town = town
        self.dice = dice
        self.isEager = isEager
    }

    var nextOpening: Timestamp? { openings.map(\.at).min() }

    mutating func present(at now: Timestamp, _ findings: Findings) async throws {
        let fresh = town.simulator.read { [seen] store in
            store.sales[seen...].compactMap { store.transactions[$0] }
        }
        seen += fresh.count
        for sold in fresh where sold.reason == .purchase {
            unsent.append((sold.customer, sold.id))
            let wait = isEager || dice.below(10) < 6 ? 0 : dice.below(Self.closedMax)
            if !openings.contains(where: { $0.customer == sold.customer }) || wait == 0 {
                openings.append((sold.customer, now.advanced(by: .seconds(Int64(wait)))))
            }
        }
        while let place = openings.firstIndex(where: { $0.at <= now }) {
            let customer = openings.remove(at: place).customer
            let mine = unsent.filter { $0.customer == customer }.map(\.id)
            unsent.removeAll { $0.customer == customer }
            for id in mine where !presented.contains(id) { try await send(id, of: customer, at: now, findings) }
        }
    }

    private mutating func send(
        _ id: TransactionID,
        of customer: String,
        at now: Timestamp,
        _ findings: Findings
    ) async throws {
        let found = town.simulator.read { store in
            store.transactions[id].flatMap { sold in store.apps[sold.app].map { (sold, $0) } }
        }
        guard let (sold, app) = found else { return }
        let proof: [UInt8]
        if customer.hasSuffix("4"), sold.environment == .production, let receipt = try receipt(of: customer) {
            proof = receipt
        } else {
            proof = Array(try Self.signer.get().transaction(sold, of: app, at: now).utf8)
        }
        let outcome = try await town.submit(proof, customer: customer)
        guard case .recorded = outcome else {
            return findings.note("what is genuine is recorded", "\(customer)'s \(id): \(outcome)")
        }
        presented.insert(sold.originalID)
    }

    private func receipt(of customer: String) throws -> [UInt8]? {
        let owner = SimulatedStore.Owner(customer: customer, app: DemoCatalogue.bundleID)
        guard let ledger = town.simulator.read({ CustomerLedger($0, owner) }) else { return nil }
        return try Self.receipts.get().appReceipt(ledger)
    }
}
