import CSQLite

/// Decides when the log is brought into the database, and how hard it is tried.
///
/// Small steps keep each pause short. A step that readers hold back leaves the log longer; from a limit on, the
/// checkpoint waits for them, so that the log cannot grow for ever.
struct CheckpointSchedule {
    private let limits: CheckpointLimits
    private var nextStep: Int
    private var isQueued = false
    private var pages = 0

    init(_ limits: CheckpointLimits) {
        self.limits = limits
        nextStep = limits.stepPages
    }

    /// SQLite's number for how hard to try.
    var mode: Int32 { pages >= limits.limitPages ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE }

    /// True when a step must be queued now; the caller queues it.
    mutating func isDue(pagesOfLog: Int) -> Bool {
        // A shorter log than before is a new one.
        if pagesOfLog < pages { nextStep = limits.stepPages }
        pages = pagesOfLog
        guard !isQueued, pages >= nextStep else { return false }
        isQueued = true
        return true
    }

    /// - Parameter pagesOfLog: how many stood in the log when the step ended.
    mutating func finished(pagesOfLog: Int) {
        isQueued = false
        pages = pagesOfLog
        nextStep = pagesOfLog + limits.stepPages
    }
}
