import PurchaseModel
import Synchronization

/// A clock that moves only when told, and those who wait for it.
final class TestTime: WallClock {
    private struct Waiter {
        var id: Int
        var until: Timestamp
        var duration: Duration
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var now = Timestamp(milliseconds: 0)
        var made = 0
        var waiters: [Waiter] = []
        var cancelled: Set<Int> = []
        var watchers: [(duration: Duration, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    var now: Timestamp { state.withLock { $0.now } }
    var uptime: Duration { Timestamp(milliseconds: 0).duration(to: now) }

    /// Waits until the clock has moved so far; false when the task is cancelled.
    func wait(_ duration: Duration) async -> Bool {
        let id = state.withLock { state in
            state.made += 1
            return state.made
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isCancelled, watchers) = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return (true, [CheckedContinuation<Void, Never>]()) }
                    let until = state.now.advanced(by: duration)
                    state.waiters.append(Waiter(id: id, until: until, duration: duration, continuation: continuation))
                    let watchers = state.watchers.filter { $0.duration == duration }.map(\.continuation)
                    state.watchers.removeAll { $0.duration == duration }
                    return (false, watchers)
                }
                if isCancelled { continuation.resume(returning: false) }
                for watcher in watchers { watcher.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state -> Waiter? in
                guard let index = state.waiters.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil
                }
                return state.waiters.remove(at: index)
            }
            waiter?.continuation.resume(returning: false)
        }
    }

    /// Moves the clock, and lets go who waited for that.
    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.waiters.filter { $0.until <= state.now }
            state.waiters.removeAll { $0.until <= state.now }
            return due
        }
        for waiter in due { waiter.continuation.resume(returning: true) }
    }

    /// Returns once somebody waits for so long.
    func untilSomebodyWaits(_ duration: Duration) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.waiters.contains(where: { $0.duration == duration }) { return true }
                state.watchers.append((duration, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}
