import Synchronization

/// One request from its arrival to its answer, and the word that its client left.
final class Exchange: Sendable {
    let ticket: Ticket
    let request: HTTPRequest

    private struct State {
        var progress = Progress.running
        var demand = Demand.none
    }

    private enum Progress {
        case running
        case awaited(CheckedContinuation<Outcome, Never>)
        case over(Outcome)
    }

    /// Of a stream: whether its next chunk is wanted.
    private enum Demand {
        case none
        case asked
        case awaited(CheckedContinuation<Bool, Never>)
    }

    enum Outcome {
        case answered
        /// The client, or a stream's: nobody waits for more.
        case left
    }

    private let state = Mutex(State())

    init(_ ticket: Ticket, _ request: HTTPRequest) {
        self.ticket = ticket
        self.request = request
    }

    /// Says how it ended; only the first word counts.
    func end(_ outcome: Outcome) {
        let (waiting, source) = state.withLock { state in
            if case .over = state.progress { return (nil, nil) as (CheckedContinuation<Outcome, Never>?, Source?) }
            defer {
                state.progress = .over(outcome)
                state.demand = .none
            }
            let source: Source? = if case .awaited(let source) = state.demand { source } else { nil }
            guard case .awaited(let waiting) = state.progress else { return (nil, source) }
            return (waiting, source)
        }
        waiting?.resume(returning: outcome)
        source?.resume(returning: false)
    }

    /// Waits for the end. One task may.
    func outcome() async -> Outcome {
        await withCheckedContinuation { continuation in
            let known: Outcome? = state.withLock { state in
                if case .over(let outcome) = state.progress { return outcome }
                state.progress = .awaited(continuation)
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }
}

// Streams.
extension Exchange {
    private typealias Source = CheckedContinuation<Bool, Never>

    /// Says that the stream's next chunk is wanted.
    func ask() {
        let source: Source? = state.withLock { state in
            if case .over = state.progress { return nil }
            if case .awaited(let source) = state.demand {
                state.demand = .none
                return source
            }
            state.demand = .asked
            return nil
        }
        source?.resume(returning: true)
    }

    /// Waits until the next chunk is wanted; false when none will be. One task may.
    func isWanted() async -> Bool {
        await withCheckedContinuation { continuation in
            let known: Bool? = state.withLock { state in
                if case .over = state.progress { return false }
                if case .asked = state.demand {
                    state.demand = .none
                    return true
                }
                state.demand = .awaited(continuation)
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }
}
