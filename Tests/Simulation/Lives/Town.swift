import AppStore
import Crypto
import HTTP
import Jobs
import Pipeline
import PurchaseModel
import Simulator
import Storage
import TestSupport
import Verification

/// A server with all that follows purchases for their whole life, and the simulated App Store that it asks: without a
/// socket, on one clock.
final class Town: Sendable {
    private static let keyID = "ABCDEFGHIJ"
    private static let signingKey = Result { () throws(CryptoError) in try PrivateKey(generate: .p256) }
    private static let verifier = Result {
        var anchors = try TrustAnchors.apple()
        for root in try TestAuthority.shared.roots() { anchors.addRoot(try Certificate(der: root)) }
        return Verifier(anchors: anchors, bytesMax: 1 << 20)
    }

    let clock: ManualClock
    let simulator: AppStoreSimulator
    let sender: NoticeSender
    let chaos: ChaosRun
    let store = MemoryStore()
    let app: AppPolicy
    let calls = CallCount()
    let recorder: Recorder
    private let pipeline: PurchasePipeline
    private let queue: JobQueue
    private let watch: SubscriptionWatch
    private let handlers: [JobHandler]
    private let lacks: Lives.Lack?
    private let random: @Sendable () -> UInt64

    init(
        _ store: SimulatedStore,
        isTold: Bool,
        post: Post,
        lacks: Lives.Lack?,
        random: @escaping @Sendable () -> UInt64
    ) throws {
        self.lacks = lacks
        let signingKey = try Self.signingKey.get()
        clock = ManualClock(store.now)
        self.random = random
        var store = store
        var goods = store.apps[DemoCatalogue.bundleID] ?? DemoCatalogue.app()
        goods.apiKeys[Self.keyID] = signingKey.publicKey
        goods.productionNotifications = isTold ? NotificationTarget(url: "https://shop.example/production") : nil
        goods.sandboxNotifications = isTold ? NotificationTarget(url: "https://shop.example/sandbox") : nil
        store.set(goods)
        simulator = AppStoreSimulator(store, authority: TestAuthority.shared, wallClock: clock)
        chaos = ChaosRun(simulator) { _ in }
        app = Trade.policy(Wares.terms(until: store.now.advanced(by: .seconds(4_000 * 86_400))))
        let (ledger, clock, app, verifier) = (self.store, clock, app, try Self.verifier.get())
        let refusals = RefusalLedger()
        recorder = Recorder(store: ledger, refusals: refusals, clock: clock, uptime: { .zero }) { _ in }
        let queue = JobQueue(store: ledger, clock: clock, random: random)
        self.queue = queue
        pipeline = PurchasePipeline(
            verifier: verifier,
            recorder: recorder,
            store: ledger,
            refusals: refusals,
            clock: clock,
            later: PendingPlanner(queue, asking: [app.id])
        ) { _ in }
        let intake = NotificationIntake(
            verifier: verifier,
            recorder: recorder,
            store: ledger,
            refusals: refusals,
            clock: clock
        ) { _ in }
        sender = try NoticeSender(
            simulator,
            caller: Self.inbox(intake, app, calls),
            disturbance: post.disturbance
        )
        let account = try Self.account(app, signingKey, simulator, sender, chaos, calls, clock, verifier)
        let accounts = [app.id: account]
        handlers = Self.handlers(pipeline, intake, recorder, queue, ledger, verifier, accounts, clock)
        watch = SubscriptionWatch(store: ledger, apps: [app.id], queue: queue, clock: clock)
    }

    private static func handlers(
        _ pipeline: PurchasePipeline,
        _ intake: NotificationIntake,
        _ recorder: Recorder,
        _ queue: JobQueue,
        _ ledger: any Store,
        _ verifier: Verifier,
        _ accounts: [AppID: AppleAccount],
        _ clock: ManualClock
    ) -> [JobHandler] {
        let comparer = NotificationComparer(
            intake: intake,
            store: ledger,
            queue: queue,
            accounts: accounts,
            clock: clock
        ) { _ in }
        let looker = SubscriptionLooker(
            recorder: recorder,
            verifier: verifier,
            store: ledger,
            apps: Set(accounts.keys),
            accounts: accounts,
            clock: clock
        )
        let decider = ProofDecider(pipeline: pipeline, store: ledger, accounts: accounts, clock: clock)
        return [decider.handler, comparer.handler, looker.handler]
    }

    private static func inbox(_ intake: NotificationIntake, _ app: AppPolicy, _ calls: CallCount) -> HTTPCaller {
        HTTPCaller { call in
            guard let outcome = try? await intake.take(call.body, for: app), case .kept = outcome else {
                calls.noteRefusal()
                return HTTPResponse(.serviceUnavailable)
            }
            return HTTPResponse(.ok)
        }
    }

    private static func account(
        _ app: AppPolicy,
        _ key: PrivateKey,
        _ simulator: AppStoreSimulator,
        _ sender: NoticeSender,
        _ chaos: ChaosRun,
        _ calls: CallCount,
        _ clock: ManualClock,
        _ verifier: Verifier
    ) throws -> AppleAccount {
        let credentials = AppCredentials(
            bundleID: app.bundleID,
            appleID: app.appleID,
            sharedSecret: DemoCatalogue.sharedSecret,
            key: try ServerAPIKey(issuerID: DemoCatalogue.issuerID, keyID: keyID, pem: try key.pem())
        )
        let router = Router(
            try VerifyReceiptEndpoint(simulator).routes + ServerAPI(simulator, sent: sender.sentNotices).routes
        )
        let caller = HTTPCaller(handler: chaos.disturbing(router.handler))
        let counted = HTTPCaller { call async throws(HTTPCallFailure) in
            let response = try await caller.send(call)
            calls.note(call, response, at: clock.now)
            return response
        }
        let line = AppleLine(caller: counted, clock: clock) { calls.note($0, at: clock.now) }
        let hosts = AppStoreHosts.simulator(at: "http://store.test")
        return AppleAccount(
            app: app,
            credentials: credentials,
            receipts: VerifyReceiptCall(line: line, verifier: verifier, hosts: hosts),
            server: AppStoreServerClient(app: credentials, line: line, verifier: verifier, hosts: hosts),
            isTest: true
        )
    }

    // MARK: What happens

    /// The jobs that begin with the server.
    func begin() async throws {
        guard lacks != .comparisons else { return }
        for store in [StoreEnvironment.production, .sandbox] {
            try await queue.enqueue(NotificationComparison(app: app.id, store: store))
        }
    }

    func submit(_ proof: [UInt8], customer: String) async throws -> Outcome {
        try await pipeline.submit(Submission(app: app, bytes: proof, customer: CustomerID(checked: customer)))
    }

    /// When there is something to be done next that only time brings.
    func nextDue() async throws -> Timestamp? {
        let hasLooks = lacks != .looks
        let far = clock.now.advanced(by: .seconds(10_000 * 86_400))
        return try await store.read { reader throws(StoreFailure) in
            let jobs = try reader.jobFigures().compactMap(\.oldestDue)
            guard hasLooks else { return jobs.min() }
            let looks = try reader.dueSubscriptions(at: far, limit: 1).compactMap(\.nextLook)
            return (jobs + looks).min()
        }
    }

    /// Takes in hand what is due, and runs all jobs that are.
    func work() async throws {
        if lacks != .looks { await watch.sweep() }
        guard try await hasWork() else { return }
        let (ended, ending) = AsyncStream.makeStream(of: Void.self)
        let worker = JobWorker(
            queue: queue,
            handlers: handlers,
            owner: LeaseOwner(checked: "worker"),
            limits: JobLimits(concurrency: 4),
            uptime: { .zero },
            random: random,
            wait: { _ in false },
            report: { _ in ending.yield() }
        )
        async let working: Void = worker.run()
        for await _ in ended { guard try await hasWork() else { break } }
        worker.stop()
        await working
    }

    private func hasWork() async throws -> Bool {
        let (kinds, now) = (Set(handlers.map(\.kind)), clock.now)
        return try await store.read { reader throws(StoreFailure) in
            if try reader.hasDueJobs(kinds: kinds, at: now) { return true }
            return try reader.jobFigures().contains { $0.counts[.leased, default: 0] > 0 }
        }
    }

    func deadLetters() async throws -> [String] {
        try await queue.deadLetters(limit: 10).jobs.map { "\($0.job.kind): \($0.reason ?? "")" }
    }
}
