import Dispatch

/// The executor of an actor whose calls block: a serial queue with a thread of its own, so that the cooperative pool
/// never waits for a disk.
final class BlockingQueue: SerialExecutor {
    private let queue: DispatchQueue

    init(named name: String) {
        queue = DispatchQueue(label: name)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        // The runtime hands over each job once, and keeps the actor, which owns this queue, alive until it has run.
        let job = UnownedJob(job)
        let executor = unsafe asUnownedSerialExecutor()
        queue.async { unsafe job.runSynchronously(on: executor) }
    }

    func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }

    /// Runs the work after everything that is queued now.
    func later(_ work: @escaping @Sendable () -> Void) {
        queue.async(execute: work)
    }
}
