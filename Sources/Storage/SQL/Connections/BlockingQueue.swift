import Dispatch
import Glibc
import Synchronization

/// The executor of an actor whose calls block: a thread of its own that does one job after the other, so that the
/// cooperative pool never waits for a disk.
final class BlockingQueue: SerialExecutor {
    /// What the thread shares with the queue; it outlives the queue until the thread has ended.
    private final class Shared: Sendable {
        struct State {
            var work: [@Sendable () -> Void] = []
            var thread: pthread_t?
            var isOver = false
        }

        let state = Mutex(State())
        /// Signalled when work comes to an empty queue, and at the end.
        let wake = DispatchSemaphore(value: 0)
    }

    private let shared = Shared()

    init() {
        var thread = pthread_t()
        // The thread takes over the reference that is passed here, and gives it back when it ends.
        let context = unsafe Unmanaged.passRetained(shared).toOpaque()
        let failure = unsafe pthread_create(
            &thread,
            nil,
            { context in
                if let context = unsafe context {
                    BlockingQueue.run(unsafe Unmanaged<Shared>.fromOpaque(context).takeRetainedValue())
                }
                return nil
            },
            context
        )
        precondition(failure == 0, "a thread can be made while the server starts")
        pthread_detach(thread)
    }

    deinit {
        shared.state.withLock { $0.isOver = true }
        shared.wake.signal()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The runtime hands over each job once; the closure keeps this queue alive until the job has run.
        later { [self] in unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    /// Runs the work after everything that is queued now.
    func later(_ work: @escaping @Sendable () -> Void) {
        let isFirst = shared.state.withLock { state in
            state.work.append(work)
            return state.work.count == 1
        }
        // The thread takes all that there is at once: it is woken once for a batch.
        if isFirst { shared.wake.signal() }
    }

    func checkIsolated() {
        let thread = shared.state.withLock(\.thread)
        precondition(thread == pthread_self(), "this runs on the thread of its queue")
    }

    private static func run(_ shared: Shared) {
        shared.state.withLock { $0.thread = pthread_self() }
        var isOver = false
        while !isOver {
            shared.wake.wait()
            var work: [@Sendable () -> Void]
            repeat {
                (work, isOver) = shared.state.withLock { state in
                    let work = state.work
                    state.work = []
                    return (work, state.isOver)
                }
                for job in work { job() }
            } while !work.isEmpty
        }
    }
}
