import Foundation
import PurchaseClient
import Synchronization

/// Runs tasks on the calling thread, one job after the other in the seed's order; when none is ready, time goes on to the
/// next that sleeps.
final class VirtualTime: TaskExecutor {
    private struct State {
        var ready: [UnownedJob] = []
        var now = 1_000.0
        var sleepers: [Int: (due: Double, wake: CheckedContinuation<Void, Never>)] = [:]
        var count = 0
    }

    private let chance: Chance
    private let state = Mutex(State())

    init(_ chance: Chance) { self.chance = chance }

    var now: Double { state.withLock { $0.now } }

    var surroundings: Surroundings {
        Surroundings(
            // To the millisecond, as dates are written down.
            now: { Date(timeIntervalSince1970: 1_800_000_000 + (self.now * 1_000).rounded() / 1_000) },
            uptime: { self.now },
            sleep: { await self.sleep($0) },
            chance: { self.chance.next() }
        )
    }

    func sleep(_ seconds: Double) async {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { wake in
                state.withLock { $0.sleepers[number] = ($0.now + max(seconds, 0), wake) }
                if Task.isCancelled { self.wake(number) }
            }
        } onCancel: {
            wake(number)
        }
    }

    private func wake(_ number: Int) {
        state.withLock { $0.sleepers.removeValue(forKey: number) }?.wake.resume()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.ready.append(job) }
    }

    /// Runs the operation, and all that it starts, to its end.
    ///
    /// - Returns: nil when it has not ended after so many seconds, or everybody waits for another.
    func run<Value: Sendable>(atMost seconds: Double, _ operation: @escaping @Sendable () async -> Value) -> Value? {
        let returned = Returned<Value>()
        let end = now + seconds
        Task(executorPreference: self) {
            let value = await operation()
            returned.value.withLock { $0 = value }
        }
        while now <= end {
            // Each job is run once: it was taken out of the list.
            if let job = next() { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) } else if !goOn() { break }
        }
        return returned.value.withLock { $0 }
    }

    private func next() -> UnownedJob? {
        state.withLock { state in
            guard !state.ready.isEmpty else { return nil }
            return state.ready.remove(at: chance.below(state.ready.count))
        }
    }

    private func goOn() -> Bool {
        let next = state.withLock { state -> Int? in
            guard let next = state.sleepers.min(by: { ($0.value.due, $0.key) < ($1.value.due, $1.key) }) else {
                return nil
            }
            state.now = max(state.now, next.value.due)
            return next.key
        }
        if let next { wake(next) }
        return next != nil
    }

    private final class Returned<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }
}
