import Storage

/// What a worker has in hand: a value, so that one lock guards all of it.
struct JobDesk {
    /// Why a job is to stop before it has ended.
    enum Cut {
        /// The lease is another's by now.
        case lost
        case stopping
    }

    /// A job that has ended and is not written down yet. Its lease is renewed until it is.
    struct Ended {
        var hold: JobHold
        var kind: String
        var attempt: Int
        var ending: JobEnding
        var took: Duration
    }

    private struct Running {
        /// Of the uptime.
        var leaseEnds: Duration
        var bell = Bell()
        var cut: Cut?
        var ended: Ended?
    }

    var isStopping = false
    /// By the hold and not by the job: a lost one may be claimed again while its first run has not ended.
    private var running: [JobHold: Running] = [:]
    /// Whether a suspect waits for its turn alone.
    private var awaitsSuspect = false
    private var runsSuspect = false

    var isEmpty: Bool { running.isEmpty }
    /// What is still ours, as far as we know.
    var holds: [JobHold] { running.filter { $0.value.cut != .lost }.map(\.key) }
    var endings: [Ended] { running.values.compactMap(\.ended) }

    /// What to claim once all that has ended is written.
    func selection(_ concurrency: Int) -> JobSelection? {
        let left = running.values.count { $0.ended == nil }
        if isStopping || left > 0 && (runsSuspect || awaitsSuspect) || left >= concurrency { return nil }
        return awaitsSuspect ? .suspect : .sound(limit: concurrency - left)
    }

    mutating func note(_ claim: JobClaim, _ selection: JobSelection) {
        awaitsSuspect = claim.hasSuspects
        runsSuspect = selection == .suspect && !claim.jobs.isEmpty
    }

    mutating func add(_ job: JobRow, until leaseEnds: Duration) {
        if let hold = job.hold { running[hold] = Running(leaseEnds: leaseEnds) }
    }

    func bell(of job: JobRow) -> Bell? { job.hold.flatMap { running[$0]?.bell } }

    func isCut(_ job: JobRow) -> Bool { job.hold.flatMap { running[$0]?.cut } != nil }

    /// Notes how a job ended.
    ///
    /// - Returns: false when its lease was lost meanwhile: then there is nothing to write.
    @discardableResult
    mutating func end(_ job: JobRow, _ ending: JobEnding, took: Duration) -> Bool {
        guard let hold = job.hold, let known = running[hold] else { return false }
        if known.cut == .lost {
            running[hold] = nil
            return false
        }
        let ended = Ended(hold: hold, kind: job.job.kind, attempt: job.attempt, ending: ending, took: took)
        running[hold]?.ended = ended
        return true
    }

    mutating func forget(_ endings: [Ended]) {
        for ended in endings { running[ended.hold] = nil }
    }

    mutating func renew(_ hold: JobHold, until leaseEnds: Duration) { running[hold]?.leaseEnds = leaseEnds }

    /// Has a job that runs end soon.
    mutating func cut(_ hold: JobHold, _ cut: Cut) {
        guard let known = running[hold], known.ended == nil else { return }
        running[hold]?.cut = cut
        known.bell.ring()
    }

    mutating func cutAll(_ cut: Cut) {
        for hold in holds { self.cut(hold, cut) }
    }

    mutating func cutOverdue(at uptime: Duration) {
        for (hold, known) in running where known.leaseEnds <= uptime { cut(hold, .lost) }
    }
}
