import Simulator
import Synchronization

/// Runs tasks on the calling thread, one job after the other; which of those that are ready comes next is the seed's
/// choice. So one seed is one interleaving, and the same one every time.
///
/// It holds for tasks, groups and default actors; not for what has an executor or a thread of its own.
package final class SeededExecutor: TaskExecutor {
    private struct State {
        var ready: [UnownedJob] = []
        var random: SplitMix64
    }

    private let state: Mutex<State>

    package init(seed: UInt64) {
        state = Mutex(State(random: SplitMix64(seed: seed)))
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.ready.append(job) }
    }

    /// Runs the operation, and all that it starts, to its end.
    ///
    /// - Returns: nil when nothing is left to run although the operation has not returned: everybody waits for another.
    package func run<Value: Sendable>(_ operation: @escaping @Sendable () async -> Value) -> Value? {
        let returned = Returned<Value>()
        Task(executorPreference: self) {
            let value = await operation()
            returned.value.withLock { $0 = value }
        }
        // Each job is run once: it was taken out of the list.
        while let job = next() { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
        return returned.value.withLock { $0 }
    }

    private func next() -> UnownedJob? {
        state.withLock { state in
            guard !state.ready.isEmpty else { return nil }
            return state.ready.remove(at: Int(state.random.next() % UInt64(state.ready.count)))
        }
    }

    private final class Returned<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }
}
