import AppStore
import Crypto
import Encoding
import Glibc
import Jobs
import Pipeline
import PurchaseModel
import Storage
import Verification

/// What a server does that nobody waits for: its jobs.
struct BackgroundWork: Sendable {
    /// Jobs at once: each waits for Apple most of its time. As many as Apple's limit needs while it answers within a third of
    /// a second; and those for which a customer waits stand behind no other.
    private static let concurrency = 16
    /// The same of what imports ask, in one line with what customers wait for: fewer, and as many as keep up with the half of
    /// Apple's limit over which they are spread while it answers within half a second.
    private static let importedConcurrency = 12
    /// How long a stop waits for jobs that run: Apple mostly answers sooner.
    static let patience = Duration.seconds(10)

    let queue: JobQueue
    private let workers: [JobWorker]
    private let watch: SubscriptionWatch
    let accounts: [AppID: AppleAccount]

    init(
        _ queue: JobQueue,
        _ store: any Store,
        _ apps: Set<AppID>,
        _ accounts: [AppID: AppleAccount],
        _ pipeline: PurchasePipeline,
        _ recorder: Recorder,
        _ verifier: Verifier,
        _ intake: NotificationIntake,
        _ applePercent: Int,
        _ clock: SystemClock,
        _ reporter: Reporter
    ) {
        self.queue = queue
        self.accounts = accounts
        let decider = ProofDecider(pipeline: pipeline, store: store, accounts: accounts, clock: clock)
        let comparer = NotificationComparer(
            intake: intake,
            store: store,
            queue: queue,
            accounts: accounts,
            clock: clock
        ) { reporter.report($0) }
        let reader = NotificationReader(intake: intake, queue: queue, accounts: accounts, clock: clock) {
            reporter.report($0)
        }
        let customers = CustomerReader(recorder: recorder, store: store, queue: queue, accounts: accounts, clock: clock)
        let looker = SubscriptionLooker(
            recorder: recorder,
            verifier: verifier,
            store: store,
            apps: apps,
            accounts: accounts,
            clock: clock
        )
        let answerer = ConsumptionAnswerer(store: store, accounts: accounts, clock: clock)
        let asker = SupportAsker(store: store, recorder: recorder, accounts: accounts, clock: clock)
        watch = SubscriptionWatch(store: store, apps: apps, queue: queue, clock: clock, percent: applePercent)
        let (uptime, start) = (ContinuousClock(), ContinuousClock.now)
        let awaited = [decider.handler, answerer.handler, asker.handler]
        let patient = [looker.handler, customers.handler] + reader.handlers
        // A comparison of days takes long, and while a worker's suspect waits for its turn alone nothing else of it begins. Of
        // imports hundreds of thousands may be due at once.
        let parts = [
            (awaited, Self.concurrency), ([comparer.handler], Self.concurrency), (patient, Self.concurrency),
            ([decider.importedHandler], Self.importedConcurrency),
        ]
        workers = parts.map { handlers, concurrency in
            JobWorker(
                queue: queue,
                handlers: handlers,
                owner: BackgroundWork.owner(),
                limits: JobLimits(concurrency: concurrency, patience: BackgroundWork.patience),
                uptime: { start.duration(to: uptime.now) },
                random: BackgroundWork.random,
                wait: { (try? await Task.sleep(for: $0)) != nil }
            ) { reporter.report($0) }
        }
    }

    /// Works until it is stopped.
    func run() async {
        // Each is there once, whoever adds it: what runs for ever begins with the first server.
        for (app, account) in accounts.sorted(by: { $0.key < $1.key }) {
            for store in account.askableStores {
                _ = try? await queue.enqueue(NotificationComparison(app: app, store: store))
            }
        }
        await withDiscardingTaskGroup { group in
            group.addTask { await watch.run { (try? await Task.sleep(for: SubscriptionWatch.pause)) != nil } }
            await withDiscardingTaskGroup { working in
                for worker in workers { working.addTask { await worker.run() } }
            }
            group.cancelAll()
        }
    }

    func stop() { for worker in workers { worker.stop() } }

    static func queue(_ store: any Store, _ clock: SystemClock) -> JobQueue {
        JobQueue(store: store, clock: clock, random: random)
    }

    /// A name that no other process has or had.
    static func owner() -> LeaseOwner {
        LeaseOwner(checked: "assay-\(getpid())-\(Hexadecimal.encode(SecureRandom.bytes(12)))")
    }

    private static func random() -> UInt64 { UInt64.random(in: .min ... .max) }
}
