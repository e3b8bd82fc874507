import Synchronization

/// One request from its arrival to its answer, and the word that its client left.
final class Exchange: Sendable {
    let ticket: Ticket
    let request: HTTPRequest

    private enum State {
        case running
        case awaited(CheckedContinuation<Outcome, Never>)
        case over(Outcome)
    }

    enum Outcome {
        case answered
        case left
    }

    private let state = Mutex(State.running)

    init(_ ticket: Ticket, _ request: HTTPRequest) {
        self.ticket = ticket
        self.request = request
    }

    /// Says how it ended; only the first word counts.
    func end(_ outcome: Outcome) {
        let waiting: CheckedContinuation<Outcome, Never>? = state.withLock { state in
            switch state {
            case .running:
                state = .over(outcome)
                return nil
            case .awaited(let continuation):
                state = .over(outcome)
                return continuation
            case .over:
                return nil
            }
        }
        waiting?.resume(returning: outcome)
    }

    /// Waits for the end. One task may.
    func outcome() async -> Outcome {
        await withCheckedContinuation { continuation in
            let known: Outcome? = state.withLock { state in
                if case .over(let outcome) = state { return outcome }
                state = .awaited(continuation)
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }
}
