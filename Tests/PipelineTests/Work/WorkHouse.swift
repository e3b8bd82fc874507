import AppStore
import Crypto
import HTTP
import Jobs
import Pipeline
import PurchaseModel
import Simulator
import Storage
import Synchronization
import TestSupport
import Testing
import Verification

/// A pipeline whose jobs ask the simulated App Store, without a socket, on one clock that a test moves.
struct WorkHouse: Sendable {
    static let start = Timestamp(seconds: 1_767_225_600)
    static let base = "http://store.test"
    private static let keyID = "ABCDEFGHIJ"
    private static let signingKey = Result { try PrivateKey(generate: .p256) }

    let clock = ManualClock(start)
    let simulator: AppStoreSimulator
    let sender: NoticeSender
    let chaos: ChaosRun
    let store: MemoryStore
    let app: AppPolicy
    let pipeline: PurchasePipeline
    let intake: NotificationIntake
    let queue: JobQueue
    let calls = Noted<String>()
    let inbox: Inbox
    /// What Apple answers instead of what it would.
    let script = Script()
    let reconciliation: Reconciliation
    let accounts: [AppID: AppleAccount]
    private let watch: SubscriptionWatch
    let recorder: Recorder
    private let handlers: [JobHandler]
    /// Of a server that has nothing to ask Apple with.
    private let keyless: [JobHandler]
    let events: Noted<PipelineEvent>

    /// Takes Apple's notifications in, unless it is closed.
    final class Inbox: Sendable {
        private let state = Mutex((isOpen: true, intake: NotificationIntake?.none))

        func open(_ isOpen: Bool) { state.withLock { $0.isOpen = isOpen } }
        func set(_ intake: NotificationIntake) { state.withLock { $0.intake = intake } }
        private var intake: NotificationIntake? { state.withLock { $0.isOpen ? $0.intake : nil } }

        func caller(_ app: AppPolicy) -> HTTPCaller {
            HTTPCaller { [self] call in
                guard let intake, let outcome = try? await intake.take(call.body, for: app), case .kept = outcome else {
                    return HTTPResponse(.serviceUnavailable)
                }
                return HTTPResponse(.ok)
            }
        }
    }

    init(
        knowsApp: Bool = true,
        hasAccount: Bool = true,
        hasKey: Bool = true,
        readsHistory: Bool = false,
        environments: Set<StoreEnvironment> = [.production, .sandbox],
        terms: AppTerms = AppTerms(),
        applePercent: Int = 100
    ) throws {
        let signingKey = try Self.signingKey.get()
        simulator = Self.simulator(signingKey, clock)
        app = try Self.policy(terms, environments, readsHistory)
        let (store, clock, app, inbox) = (MemoryStore(), clock, app, Inbox())
        let (events, refusals) = (Noted<PipelineEvent>(), RefusalLedger())
        (self.store, self.inbox, self.events) = (store, inbox, events)
        sender = try NoticeSender(simulator, caller: inbox.caller(app))
        chaos = ChaosRun(simulator) { _ in }
        let (verifier, random) = (try PipelineHouse.verifier(), SharedCounter())
        queue = JobQueue(store: store, clock: clock) { random.next() }
        let (queue, firsts) = (queue, Self.firsts(of: app, queue))
        recorder = Recorder(store: store, refusals: refusals, clock: clock, uptime: { .zero }, firsts: firsts) {
            events.note($0)
        }
        pipeline = PurchasePipeline(
            verifier: verifier,
            recorder: recorder,
            store: store,
            refusals: refusals,
            clock: clock,
            later: PendingPlanner(queue, asking: knowsApp && hasAccount ? [app.id] : [])
        ) { events.note($0) }
        intake = NotificationIntake(
            verifier: verifier,
            recorder: recorder,
            store: store,
            refusals: refusals,
            secrets: [app.id: Array(DemoCatalogue.sharedSecret.utf8)],
            clock: clock,
            queue: ConsumptionQueue(queue),
            refunds: RefundQueue(queue),
            looks: LookQueue(queue)
        ) { events.note($0) }
        inbox.set(intake)
        let apple = Router(
            try VerifyReceiptEndpoint(simulator).routes + ServerAPI(simulator, sent: sender.sentNotices).routes
        )
        let credentials = AppCredentials(
            bundleID: app.bundleID,
            appleID: app.appleID,
            sharedSecret: DemoCatalogue.sharedSecret,
            key: hasKey ? try Self.key(signingKey) : nil
        )
        let account = try Self.account(app, credentials, apple, chaos, calls, script, clock, verifier, applePercent)
        accounts = knowsApp && hasAccount ? [app.id: account] : [:]
        reconciliation = Reconciliation(store: store, queue: queue, clock: clock)
        let apps: Set<AppID> = knowsApp ? [app.id] : []
        handlers = Self.handlers(pipeline, intake, recorder, queue, store, verifier, apps, accounts, clock, events)
        keyless = Self.handlers(pipeline, intake, recorder, queue, store, verifier, apps, [:], clock, events)
        watch = SubscriptionWatch(store: store, apps: apps, queue: queue, clock: clock)
    }

    private static func handlers(
        _ pipeline: PurchasePipeline,
        _ intake: NotificationIntake,
        _ recorder: Recorder,
        _ queue: JobQueue,
        _ store: any Store,
        _ verifier: Verifier,
        _ apps: Set<AppID>,
        _ accounts: [AppID: AppleAccount],
        _ clock: ManualClock,
        _ events: Noted<PipelineEvent>
    ) -> [JobHandler] {
        let reader = NotificationReader(intake: intake, queue: queue, accounts: accounts, clock: clock) {
            events.note($0)
        }
        let comparer = NotificationComparer(
            intake: intake,
            store: store,
            queue: queue,
            accounts: accounts,
            clock: clock
        ) { events.note($0) }
        let looker = SubscriptionLooker(
            recorder: recorder,
            verifier: verifier,
            store: store,
            apps: apps,
            accounts: accounts,
            clock: clock
        )
        let decider = ProofDecider(pipeline: pipeline, store: store, accounts: accounts, clock: clock)
        let answerer = ConsumptionAnswerer(store: store, accounts: accounts, clock: clock)
        let asker = SupportAsker(store: store, recorder: recorder, accounts: accounts, clock: clock)
        let customers = CustomerReader(recorder: recorder, store: store, queue: queue, accounts: accounts, clock: clock)
        return [
            decider.handler, decider.importedHandler, comparer.handler, looker.handler, customers.handler,
            answerer.handler, asker.handler,
        ] + reader.handlers
    }

    private static func firsts(of app: AppPolicy, _ queue: JobQueue) -> FirstPurchases {
        FirstPurchases(among: [app]) { key, write throws(StoreFailure) in
            try queue.enqueue(CustomerReading(.history, of: key), in: write)
        }
    }

    private static func policy(
        _ terms: AppTerms,
        _ environments: Set<StoreEnvironment>,
        _ readsHistory: Bool
    ) throws -> AppPolicy {
        AppPolicy(
            id: try #require(AppID("demo")),
            bundleID: DemoCatalogue.bundleID,
            appleID: DemoCatalogue.appleID,
            environments: environments,
            acceptsTestSigned: true,
            terms: terms,
            readsHistory: readsHistory
        )
    }

    private static func key(_ key: PrivateKey) throws -> ServerAPIKey {
        try ServerAPIKey(issuerID: DemoCatalogue.issuerID, keyID: keyID, pem: try key.pem())
    }

    private static func simulator(_ key: PrivateKey, _ clock: ManualClock) -> AppStoreSimulator {
        var store = SimulatedStore(startingAt: start, seed: 7)
        var app = DemoCatalogue.app()
        app.apiKeys[keyID] = key.publicKey
        // In a group of its own: beside the others.
        app.products[DemoCatalogue.product("premium.monthly")]?.group = "29999999"
        app.productionNotifications = NotificationTarget(url: "https://shop.example/production")
        app.sandboxNotifications = NotificationTarget(url: "https://shop.example/sandbox")
        store.set(app)
        store.set(StoreCustomer(name: "anna", environment: .production))
        store.set(StoreCustomer(name: "bert", environment: .production))
        store.set(StoreCustomer(name: "tester", environment: .sandbox))
        return AppStoreSimulator(store, authority: TestAuthority.shared, wallClock: clock)
    }

    private static func account(
        _ app: AppPolicy,
        _ credentials: AppCredentials,
        _ router: Router,
        _ chaos: ChaosRun,
        _ calls: Noted<String>,
        _ script: Script,
        _ clock: ManualClock,
        _ verifier: Verifier,
        _ percent: Int
    ) throws -> AppleAccount {
        let caller = HTTPCaller(handler: chaos.disturbing(router.handler))
        let counted = HTTPCaller { call async throws(HTTPCallFailure) in
            calls.note(call.url)
            try await script.keepSilence()
            if let answer = script.answer(call) { return answer }
            return script.passed(try await caller.send(call), to: call)
        }
        let line = AppleLine(caller: counted, clock: clock, share: RequestBudget.Share(percent: percent))
        let hosts = AppStoreHosts.simulator(at: base)
        return AppleAccount(
            app: app,
            credentials: credentials,
            receipts: VerifyReceiptCall(line: line, verifier: verifier, hosts: hosts),
            server: AppStoreServerClient(app: credentials, line: line, verifier: verifier, hosts: hosts),
            isTest: true
        )
    }

    /// Runs the recorder while the body does its work.
    func open<Value: Sendable>(_ body: (WorkHouse) async throws -> Value) async throws -> Value {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await recorder.run() }
            defer { recorder.stop() }
            return try await body(self)
        }
    }

    // MARK: What happens

    @discardableResult
    func buy(_ product: String, by customer: String = "anna") throws -> SoldTransaction {
        let purchase = Act.Purchase(
            customer: customer,
            app: DemoCatalogue.bundleID,
            product: DemoCatalogue.product(product)
        )
        guard case .done(let ids) = try simulator.perform(.buy(purchase)) else {
            throw ActRefusal.nothingWaits
        }
        return try #require(simulator.read { store in ids.last.flatMap { store.transactions[$0] } })
    }

    /// Lets both clocks go on, the store's and ours.
    func pass(_ duration: Duration) {
        clock.advance(by: duration)
        simulator.change { store in store.advance(to: store.steadyNow.advanced(by: duration)) }
    }

    func receipt(of customer: String = "anna") throws -> [UInt8] {
        let owner = SimulatedStore.Owner(customer: customer, app: DemoCatalogue.bundleID)
        let ledger = try #require(simulator.read { CustomerLedger($0, owner) })
        return try CustomerReceipts(TestAuthority.shared).appReceipt(ledger)
    }

    func submit(_ proof: [UInt8], customer: String = "ann", isFromShop: Bool = true) async throws -> Outcome {
        var submission = Submission(app: app, bytes: proof, customer: CustomerID(customer))
        submission.isFromShop = isFromShop
        return try await pipeline.submit(submission)
    }

    /// Runs all jobs that are due now, each once, but for those of some kinds; without a key as the server next to this one
    /// that has none.
    func work(hasKey: Bool = true, leaving kinds: Set<String> = []) async throws {
        await watch.sweep()
        let chosen = (hasKey ? handlers : keyless).filter { !kinds.contains($0.kind) }
        guard try await hasWork(for: chosen) else { return }
        try await run(chosen) { try await hasWork(for: chosen) }
    }

    /// Runs one job of a kind, whatever others of it do meanwhile.
    func workOnce(on kind: String) async throws {
        try await run(handlers.filter { $0.kind == kind }) { false }
    }

    private func run(_ handlers: [JobHandler], while isWanted: () async throws -> Bool) async throws {
        let (ended, ending) = AsyncStream.makeStream(of: Void.self)
        let worker = JobWorker(
            queue: queue,
            handlers: handlers,
            owner: LeaseOwner(checked: "worker"),
            limits: JobLimits(concurrency: 4),
            uptime: { .zero },
            random: { 250 },
            wait: { _ in false },
            report: { _ in ending.yield() }
        )
        async let working: Void = worker.run()
        for await _ in ended { guard try await isWanted() else { break } }
        worker.stop()
        await working
    }

    /// Has the jobs that are due ask Apple, which says nothing, and stops when so many do: none is patient.
    func stopWhile(asking calls: Int) async {
        let worker = JobWorker(
            queue: queue,
            handlers: handlers,
            owner: LeaseOwner(checked: "worker"),
            limits: JobLimits(concurrency: 100, patience: .seconds(7)),
            uptime: { .zero },
            random: { 250 },
            wait: { $0 == .seconds(7) },
            report: { _ in }
        )
        async let working: Void = worker.run()
        await script.untilAsked(calls)
        worker.stop()
        await working
    }

    /// What another server finds to do now.
    func due() async throws -> [JobRow] {
        let terms = LeaseTerms(owner: LeaseOwner(checked: "other"), duration: .seconds(30), now: clock.now)
        let kinds = Set(handlers.map(\.kind))
        return try await store.write { transaction throws(StoreFailure) in
            try transaction.claimJobs(kinds: kinds, .sound(limit: 100), terms: terms).jobs
        }
    }

    private func hasWork(for handlers: [JobHandler]) async throws -> Bool {
        let (kinds, now) = (Set(handlers.map(\.kind)), clock.now)
        return try await store.read { reader throws(StoreFailure) in
            let figures = try reader.jobFigures()
            let isDue = try reader.hasDueJobs(kinds: kinds, at: now)
            return isDue || figures.contains { $0.counts[.leased, default: 0] > 0 }
        }
    }

    // MARK: What came of it

    func submission(_ outcome: Outcome) async throws -> KeptSubmission {
        guard case .pending(let id) = outcome else { throw Unexpected.outcome }
        return try #require(
            try await store.read { reader throws(StoreFailure) in try reader.submission(id) }
        )
    }

    func recorded(_ id: TransactionID, in environment: StoreEnvironment = .production) async throws
        -> RecordedTransaction?
    {
        let key = TransactionKey(app: app.id, realm: Realm(environment: environment, isTestSigned: true), id: id)
        return try await store.read { reader throws(StoreFailure) in try reader.transactions([key]).first }
    }

    /// Whether a job of the kind is not done yet.
    func waits(for kind: String) async throws -> Bool {
        try await store.read { reader throws(StoreFailure) in
            try reader.jobFigures().contains { $0.kind == kind && $0.counts[.pending, default: 0] > 0 }
        }
    }

    func deadLetters() async throws -> [String] {
        try await queue.deadLetters(limit: 10).jobs.compactMap(\.reason)
    }

    enum Unexpected: Error { case outcome }
}

/// Numbers that are never the same.
final class SharedCounter: Sendable {
    private let count = Mutex<UInt64>(0)

    func next() -> UInt64 {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
