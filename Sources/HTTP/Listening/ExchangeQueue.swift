import Synchronization

/// Brings requests from the I/O thread to the task that starts their handlers.
///
/// Never longer than the requests in flight that the limits allow. It ends when the listener has ended, and not when
/// the waiting task is cancelled: each request that came in must be answered.
final class ExchangeQueue: Sendable {
    private struct State {
        var waiting: [Exchange] = []
        var isFinished = false
        var consumer: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func append(_ exchanges: [Exchange]) {
        let consumer = state.withLock { state in
            state.waiting.append(contentsOf: exchanges)
            return state.consumer.take()
        }
        consumer?.resume()
    }

    func finish() {
        let consumer = state.withLock { state in
            state.isFinished = true
            return state.consumer.take()
        }
        consumer?.resume()
    }

    /// All that came since the last call, at least one; `nil` at the end. One task may ask.
    func next() async -> [Exchange]? {
        if let ready = take() { return ready.isEmpty ? nil : ready }
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if !state.waiting.isEmpty || state.isFinished { return true }
                state.consumer = continuation
                return false
            }
            if isReady { continuation.resume() }
        }
        return take().flatMap { $0.isEmpty ? nil : $0 }
    }

    /// What is there; empty at the end; `nil` when there is nothing yet.
    private func take() -> [Exchange]? {
        state.withLock { state in
            if state.waiting.isEmpty { return state.isFinished ? [] : nil }
            var taken: [Exchange] = []
            swap(&taken, &state.waiting)
            return taken
        }
    }
}
