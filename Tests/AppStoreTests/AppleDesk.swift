import AppStore
import Crypto
import HTTP
import PurchaseModel
import Simulator
import Synchronization
import TestSupport
import Testing
import Verification

/// A simulated App Store with the demo's app, and what it takes to ask it.
struct AppleDesk: Sendable {
    static let start = Timestamp(seconds: 1_767_225_600)
    static let base = "http://store.test"
    static let bundleID = DemoCatalogue.bundleID

    let clock = ManualClock(start)
    let simulator: AppStoreSimulator
    let log = CallLog()
    private let keys: StoreApp

    init(_ change: (inout StoreApp) -> Void = { _ in }) {
        var store = SimulatedStore(startingAt: Self.start, seed: 7)
        var app = DemoCatalogue.app()
        change(&app)
        keys = app
        store.set(app)
        for name in ["anna", "berta", "carla"] { store.set(StoreCustomer(name: name, environment: .production)) }
        store.set(StoreCustomer(name: "tester", environment: .sandbox))
        simulator = AppStoreSimulator(store, authority: TestAuthority.shared, wallClock: clock)
    }

    /// The verifier that believes the simulator beside Apple.
    static let verifier = Result<Verifier, any Error> {
        var anchors = try TrustAnchors.apple()
        for root in try TestAuthority.shared.roots() { anchors.addRoot(try Certificate(der: root)) }
        return Verifier(anchors: anchors)
    }

    var credentials: AppCredentials {
        AppCredentials(
            bundleID: Self.bundleID,
            appleID: DemoCatalogue.appleID,
            sharedSecret: DemoCatalogue.sharedSecret
        )
    }

    /// Every call is counted; `instead` answers before the simulator does.
    func line(
        _ handler: HTTPHandler,
        instead: @escaping @Sendable (HTTPCall) throws(HTTPCallFailure) -> HTTPResponse? = {
            _ throws(HTTPCallFailure) in nil
        }
    ) -> AppleLine {
        let caller = HTTPCaller(handler: handler)
        let log = log
        let counted = HTTPCaller { call async throws(HTTPCallFailure) in
            log.note(call)
            if let response = try instead(call) { return response }
            return try await caller.send(call)
        }
        return AppleLine(caller: counted, clock: clock) { event in log.note(event) }
    }

    func receiptCall(
        chaos: Chaos = .none,
        instead: @escaping @Sendable (HTTPCall) throws(HTTPCallFailure) -> HTTPResponse? = {
            _ throws(HTTPCallFailure) in nil
        }
    ) throws -> VerifyReceiptCall {
        let run = ChaosRun(simulator) { _ in }
        run.set(chaos)
        let router = Router(VerifyReceiptEndpoint(simulator).routes)
        return VerifyReceiptCall(
            line: line(run.disturbing(router.handler), instead: instead),
            verifier: try Self.verifier.get(),
            hosts: .simulator(at: Self.base)
        )
    }
}

// MARK: What happens in the store

extension AppleDesk {
    @discardableResult
    func buy(_ product: String, by customer: String = "anna", quantity: Int = 1) throws -> SoldTransaction {
        var purchase = Act.Purchase(
            customer: customer,
            app: Self.bundleID,
            product: DemoCatalogue.product(product)
        )
        purchase.quantity = quantity
        guard case .done(let ids) = try simulator.perform(.buy(purchase)) else { throw DeskFault.nothingBought }
        return try #require(simulator.read { store in ids.last.flatMap { store.transactions[$0] } })
    }

    func pass(days: Int64) {
        clock.advance(by: .seconds(days * 86_400))
        simulator.change { store in store.advance(to: store.steadyNow.advanced(by: .seconds(days * 86_400))) }
    }

    func ledger(of customer: String = "anna") throws -> CustomerLedger {
        let owner = SimulatedStore.Owner(customer: customer, app: Self.bundleID)
        return try #require(simulator.read { CustomerLedger($0, owner) })
    }

    func receipt(of customer: String = "anna") throws -> [UInt8] {
        try CustomerReceipts(TestAuthority.shared).appReceipt(ledger(of: customer))
    }

    func oldReceipt(of sold: SoldTransaction) throws -> [UInt8] {
        try CustomerReceipts(TestAuthority.shared).transactionReceipt(sold, ledger(of: sold.customer))
    }

    enum DeskFault: Error { case nothingBought, unexpected(String) }
}

/// What was sent, and what was told of it.
final class CallLog: Sendable {
    private let state = Mutex((calls: [HTTPCall](), events: [AppStoreEvent]()))

    var calls: [HTTPCall] { state.withLock { $0.calls } }
    var events: [AppStoreEvent] { state.withLock { $0.events } }
    var urls: [String] { calls.map(\.url) }

    func note(_ call: HTTPCall) { state.withLock { $0.calls.append(call) } }
    func note(_ event: AppStoreEvent) { state.withLock { $0.events.append(event) } }
}
