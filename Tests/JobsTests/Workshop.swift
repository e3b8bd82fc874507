import Jobs
import PurchaseModel
import Storage
import Synchronization
import TestSupport

/// A job whose payload is a word.
struct Errand: Job {
    static let kind = "errand"
    let word: String
    var key: String?

    init(_ word: String, key: String? = nil) {
        self.word = word
        self.key = key
    }

    init?(payload: [UInt8]) {
        guard let word = String(validating: payload, as: UTF8.self) else { return nil }
        self.word = word
    }

    var payload: [UInt8] { Array(word.utf8) }
}

/// A store, a clock and a worker on it, of which a test hears every event.
struct Workshop: Sendable {
    /// What none of the default durations is, so that a test can tell who waits.
    static let limits = JobLimits(
        concurrency: 2,
        lease: .seconds(30),
        idle: .seconds(1),
        patience: .seconds(7),
        lostLeasesMax: 3
    )

    let store: any Store
    let time = TestTime()
    let queue: JobQueue
    private let events: AsyncStream<JobEvent>
    private let told: AsyncStream<JobEvent>.Continuation

    init(_ store: any Store = MemoryStore()) {
        self.store = store
        (events, told) = AsyncStream.makeStream()
        queue = JobQueue(store: store, clock: time, random: Workshop.random())
    }

    func worker(
        _ owner: String = "w",
        limits: JobLimits = limits,
        attemptsMax: Int = 3,
        run: @escaping @Sendable (Errand, JobRun) async -> JobOutcome
    ) throws -> JobWorker {
        let schedule = RetrySchedule(first: .seconds(4), longest: .seconds(100), attemptsMax: attemptsMax)
        return JobWorker(
            queue: queue,
            handlers: [JobHandler(Errand.self, schedule: schedule, run: run)],
            owner: try Workshop.owner(owner),
            limits: limits,
            uptime: { [time] in time.uptime },
            random: { 250 },
            wait: { [time] in await time.wait($0) },
            report: { [told] in told.yield($0) }
        )
    }

    /// Runs a worker beside the closure, stops it, and sees that it ends.
    func with(_ worker: JobWorker, _ body: @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await worker.run() }
            do {
                try await body()
                worker.stop()
            } catch {
                group.cancelAll()
                throw error
            }
            try await group.waitForAll()
        }
    }

    /// The next so many events that are not about claims.
    func events(_ count: Int) async -> [JobEvent] {
        var found: [JobEvent] = []
        for await event in events {
            if case .claimed = event { continue }
            found.append(event)
            if found.count == count { break }
        }
        return found
    }

    /// Claims as a process does that ends before it has finished anything.
    func claimAndDie(_ owner: String = "dead", _ selection: JobSelection = .sound(limit: 9)) async throws -> [JobRow] {
        let terms = LeaseTerms(owner: try Workshop.owner(owner), duration: .seconds(30), now: time.now)
        return try await store.write { transaction throws(StoreFailure) in
            try transaction.claimJobs(kinds: [Errand.kind], selection, terms: terms).jobs
        }
    }

    func words(of letters: [JobRow]) -> [String] {
        letters.map { String(decoding: $0.job.payload, as: UTF8.self) }
    }

    private static func random() -> @Sendable () -> UInt64 {
        let generator = Seeded()
        return { generator.next() }
    }

    private static func owner(_ text: String) throws -> LeaseOwner {
        guard let owner = LeaseOwner(text) else { throw BadName() }
        return owner
    }

    private struct BadName: Error {}
}

private final class Seeded: Sendable {
    private let generator = Mutex(SeededRandom(seed: 1))

    func next() -> UInt64 { generator.withLock { $0.next() } }
}

/// What handlers did, and a door that holds them until it is opened.
final class Notes: Sendable {
    private struct State {
        var words: [String] = []
        var running = 0
        var most = 0
        var isOpen = false
        var held: [CheckedContinuation<Void, Never>] = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    var words: [String] { state.withLock { $0.words } }
    /// How many ran at once, at most.
    var most: Int { state.withLock { $0.most } }

    func begin(_ word: String) {
        let watchers = state.withLock { state in
            state.words.append(word)
            state.running += 1
            state.most = max(state.most, state.running)
            let count = state.words.count
            let watchers = state.watchers.filter { $0.count <= count }
            state.watchers.removeAll { $0.count <= count }
            return watchers
        }
        for watcher in watchers { watcher.continuation.resume() }
    }

    func end() { state.withLock { $0.running -= 1 } }

    /// Returns once so many have begun.
    func until(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.words.count >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Waits for ``open()``, or for the end of the task.
    func door() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    if !state.isOpen, !Task.isCancelled { state.held.append(continuation) }
                    return state.isOpen || Task.isCancelled
                }
                if isOpen { continuation.resume() }
            }
        } onCancel: {
            open()
        }
    }

    func open() {
        let held = state.withLock { state in
            defer { state.held = [] }
            state.isOpen = true
            return state.held
        }
        for continuation in held { continuation.resume() }
    }
}
