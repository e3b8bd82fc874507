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
    private var parts: [Part]
    private var workers: [JobWorker]
    private let reporter: Reporter
    private let watch: SubscriptionWatch
    let accounts: [AppID: AppleAccount]

    /// What one worker does.
    private struct Part: Sendable {
        var handlers: [JobHandler]
        let concurrency: Int
    }

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
        (self.queue, self.reporter) = (queue, reporter)
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
        let awaited = [decider.handler, answerer.handler, asker.handler]
        let patient = [looker.handler, customers.handler] + reader.handlers
        // A comparison of days takes long, and while a worker's suspect waits for its turn alone nothing else of it begins. Of
        // imports hundreds of thousands may be due at once.
        parts = [
            Part(handlers: awaited, concurrency: Self.concurrency),
            Part(handlers: [comparer.handler], concurrency: Self.concurrency),
            Part(handlers: patient, concurrency: Self.concurrency),
            Part(handlers: [decider.importedHandler], concurrency: Self.importedConcurrency),
        ]
        workers = Self.workers(for: parts, queue, reporter)
    }

    private static func workers(for parts: [Part], _ queue: JobQueue, _ reporter: Reporter) -> [JobWorker] {
        let (uptime, start) = (ContinuousClock(), ContinuousClock.now)
        return parts.map { part in
            JobWorker(
                queue: queue,
                handlers: part.handlers,
                owner: BackgroundWork.owner(),
                limits: JobLimits(concurrency: part.concurrency, patience: BackgroundWork.patience),
                uptime: { start.duration(to: uptime.now) },
                random: BackgroundWork.random,
                wait: { (try? await Task.sleep(for: $0)) != nil }
            ) { reporter.report($0) }
        }
    }

    /// The same with workers of its own, which leave jobs of these kinds to others.
    func leaving(_ kinds: Set<String>) -> BackgroundWork {
        var work = self
        for place in work.parts.indices { work.parts[place].handlers.removeAll { kinds.contains($0.kind) } }
        work.workers = Self.workers(for: work.parts, queue, reporter)
        return work
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
