import PurchaseModel
package import Storage
import Synchronization

/// Claims jobs and runs them, so many at once, until it is told to stop.
///
/// What ends and what is claimed next is one write. A job whose lease ran out may be what ended its process: it is run
/// with nothing beside it, so that it takes nobody along, and after some times it is a dead letter.
package final class JobWorker: Sendable {
    private let queue: JobQueue
    private let handlers: [String: JobHandler]
    private let kinds: Set<String>
    private let owner: LeaseOwner
    private let limits: JobLimits
    private let uptime: @Sendable () -> Duration
    private let random: @Sendable () -> UInt64
    private let wait: @Sendable (Duration) async -> Bool
    private let report: @Sendable (JobEvent) -> Void
    private let desk = Mutex(JobDesk())
    /// Rung whenever there may be something to do.
    private let bell = Bell()

    /// Makes a worker; ``run()`` sets it to work.
    ///
    /// - Parameters:
    ///   - queue: where the jobs come from.
    ///   - handlers: one for each kind; others' kinds are left to others.
    ///   - owner: the name that leases are held under, which no other process has or had.
    ///   - limits: how much it takes on.
    ///   - uptime: measures leases; the time of day would not do, because it is set now and then.
    ///   - random: any number, each as likely as the others.
    ///   - wait: returns true after so long, and false as soon as the task is cancelled.
    ///   - report: called for what happens.
    package init(
        queue: JobQueue,
        handlers: [JobHandler],
        owner: LeaseOwner,
        limits: JobLimits,
        uptime: @escaping @Sendable () -> Duration,
        random: @escaping @Sendable () -> UInt64,
        wait: @escaping @Sendable (Duration) async -> Bool,
        report: @escaping @Sendable (JobEvent) -> Void
    ) {
        self.queue = queue
        self.handlers = Dictionary(uniqueKeysWithValues: handlers.map { ($0.kind, $0) })
        kinds = Set(handlers.map(\.kind))
        self.owner = owner
        self.limits = limits
        self.uptime = uptime
        self.random = random
        self.wait = wait
        self.report = report
    }

    /// Has it look for work now: something was added.
    package func wake() { bell.ring() }

    /// Claims nothing any more; ``run()`` returns once the running jobs have ended, or were cut off and let go.
    package func stop() {
        desk.withLock { $0.isStopping = true }
        bell.ring()
    }

    /// Works until ``stop()``, or until the task is cancelled, which cuts the running jobs off at once.
    package func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { while await self.wait(self.limits.lease / 3) { await self.renew() } }
            group.addTask { while await self.wait(self.limits.idle) { self.bell.ring() } }
            var isPatient = false
            bell.ring()
            for await _ in bell.rings {
                for job in await turn() { group.addTask { await self.run(job) } }
                let (isStopping, isEmpty) = desk.withLock { ($0.isStopping, $0.isEmpty) }
                if isStopping, isEmpty { break }
                guard isStopping, !isPatient else { continue }
                isPatient = true
                group.addTask {
                    if await self.wait(self.limits.patience) { self.desk.withLock { $0.cutAll(.stopping) } }
                }
            }
            group.cancelAll()
        }
        // A cancelled task's jobs have ended by now, and nobody was there to write it down.
        desk.withLock { $0.isStopping = true }
        _ = await turn()
    }

    /// Writes what has ended, and claims what there is room for.
    ///
    /// - Returns: the jobs to run.
    private func turn() async -> [JobRow] {
        let (endings, selection) = desk.withLock { ($0.endings, $0.selection(limits.concurrency)) }
        // The lease is counted from before the claim: so it never seems to last longer than it does.
        let began = uptime()
        do throws(StoreFailure) {
            if endings.isEmpty {
                guard selection != nil, try await queue.hasDue(kinds) else { return [] }
            }
            let written = try await queue.exchange(
                endings.map { FinishedJob($0.hold, as: $0.ending) },
                for: selection,
                of: kinds,
                owner,
                limits.lease
            )
            settle(endings, lost: written.lost)
            guard let selection else { return [] }
            return take(written.claim, selection, until: began + limits.lease)
        } catch {
            report(.storeFailed(error))
            // Who stops does not wait for a store that is gone: the leases run out.
            desk.withLock { desk in if desk.isStopping { desk.forget(endings) } }
            return []
        }
    }

    private func settle(_ endings: [JobDesk.Ended], lost: Set<JobHold>) {
        guard !endings.isEmpty else { return }
        desk.withLock { $0.forget(endings) }
        for ended in endings {
            let (kind, id) = (ended.kind, ended.hold.id)
            if lost.contains(ended.hold) {
                report(.lost(kind: kind, id))
                continue
            }
            switch ended.ending {
            case .done: report(.finished(kind: kind, id, attempt: ended.attempt, took: ended.took))
            case .again(_, let reason), .afresh(_, let reason):
                report(.failed(kind: kind, id, attempt: ended.attempt, reason: reason))
            case .dead(let reason):
                report(.abandoned(kind: kind, id, attempt: ended.attempt, reason: reason))
            case .released: report(.released(kind: kind, id))
            }
        }
        // There is room again, and perhaps it was the last one.
        bell.ring()
    }

    /// Notes what was claimed; what has ended its processes too often is not run any more.
    private func take(_ claim: JobClaim, _ selection: JobSelection, until leaseEnds: Duration) -> [JobRow] {
        if !claim.jobs.isEmpty { report(.claimed(jobs: claim.jobs.count)) }
        let runnable = claim.jobs.filter { $0.lostLeases < limits.lostLeasesMax }
        desk.withLock { desk in
            desk.note(claim, selection)
            for job in claim.jobs { desk.add(job, until: leaseEnds) }
            for job in claim.jobs where job.lostLeases >= limits.lostLeasesMax {
                let reason = "its lease ran out \(job.lostLeases) times: the process ended or hung while it ran"
                desk.end(job, .dead(because: reason), took: .zero)
            }
        }
        // There is something to write down, or another one took the suspect and there is room for the others.
        if runnable.isEmpty, !claim.jobs.isEmpty || selection == .suspect { bell.ring() }
        return runnable
    }

    private func run(_ job: JobRow) async {
        guard let handler = handlers[job.job.kind], let cut = desk.withLock({ $0.bell(of: job) }) else { return }
        let began = uptime()
        let outcome = await withTaskGroup(of: JobOutcome?.self) { group in
            group.addTask { await handler.run(JobRun(job)) }
            group.addTask {
                for await _ in cut.rings { break }
                return nil
            }
            var outcome: JobOutcome?
            // The first to end ends the other: a cut cancels the work, and work that is done needs no cut.
            for await ended in group {
                outcome = ended ?? outcome
                group.cancelAll()
            }
            return outcome
        }
        let isCut = Task.isCancelled || desk.withLock { $0.isCut(job) }
        let ending = ending(of: outcome ?? .done, job, handler, isCut: isCut)
        let isHeld = desk.withLock { $0.end(job, ending, took: uptime() - began) }
        if !isHeld { report(.lost(kind: job.job.kind, job.id)) }
        bell.ring()
    }

    private func ending(of outcome: JobOutcome, _ job: JobRow, _ handler: JobHandler, isCut: Bool) -> JobEnding {
        switch outcome {
        case .done: return .done
        case .again(let delay, let reason): return .afresh(after: delay, because: Reason.storable(reason))
        case .never(let reason): return .dead(because: Reason.storable(reason))
        // What was cut off has not failed.
        case .failed where isCut: return .released
        case .failed(let reason, let least):
            guard let delay = handler.schedule.delay(afterAttempt: job.attempt, chance: random()) else {
                return .dead(because: Reason.storable("given up after \(job.attempt) attempts: " + reason))
            }
            return .again(after: max(delay, least), because: Reason.storable(reason))
        }
    }

    /// Renews all leases; cuts off what was lost, or could not be renewed in time.
    private func renew() async {
        let holds = desk.withLock { $0.holds }
        guard !holds.isEmpty else { return }
        let began = uptime()
        do throws(StoreFailure) {
            let renewed = try await queue.renew(holds, owner, limits.lease)
            desk.withLock { desk in
                for hold in holds {
                    if renewed.contains(hold) {
                        desk.renew(hold, until: began + limits.lease)
                    } else {
                        desk.cut(hold, .lost)
                    }
                }
            }
        } catch {
            report(.storeFailed(error))
            let now = uptime()
            desk.withLock { $0.cutOverdue(at: now) }
        }
    }
}
