import Synchronization

/// Brings requests from the I/O thread to the lanes that run their handlers, in order of arrival.
///
/// Never longer than the requests in flight that the limits allow. It ends when the listener has ended, and not when
/// a waiting task is cancelled: each request that came in must be answered.
final class ExchangeQueue: Sendable {
    private struct State {
        /// Taken from `first` on; emptied when all are taken.
        var waiting: [Exchange] = []
        var first = 0
        var isFinished = false
        var lanes: [CheckedContinuation<Exchange?, Never>] = []

        mutating func take() -> Exchange? {
            guard first < waiting.count else { return nil }
            let exchange = waiting[first]
            first += 1
            if first == waiting.count {
                waiting.removeAll(keepingCapacity: true)
                first = 0
            }
            return exchange
        }
    }

    private let state = Mutex(State())

    func append(_ exchanges: [Exchange]) {
        // The lane that waits since last is still warm. Resumed outside the lock: what runs then may ask for it.
        let woken = state.withLock { state in
            state.waiting.append(contentsOf: exchanges)
            var woken: [(CheckedContinuation<Exchange?, Never>, Exchange)] = []
            while !state.lanes.isEmpty, let exchange = state.take() {
                woken.append((state.lanes.removeLast(), exchange))
            }
            return woken
        }
        for (lane, exchange) in woken { lane.resume(returning: exchange) }
    }

    func finish() {
        let lanes = state.withLock { state in
            state.isFinished = true
            return state.lanes
        }
        for lane in lanes { lane.resume(returning: nil) }
    }

    /// The next request, or `nil` at the end.
    func next() async -> Exchange? {
        if let ready = state.withLock({ $0.take() }) { return ready }
        return await withCheckedContinuation { lane in
            // The outer nil: to be resumed later, by who brings a request or the end.
            let known: Exchange?? = state.withLock { state in
                if let ready = state.take() { return .some(ready) }
                if state.isFinished { return .some(nil) }
                state.lanes.append(lane)
                return nil
            }
            if let known { lane.resume(returning: known) }
        }
    }
}
