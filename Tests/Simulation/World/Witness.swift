import PurchaseModel
import Storage
import Synchronization

/// What those outside were told: whatever it was, it must be so.
final class Witness: Sendable {
    struct Testimony: Sendable {
        /// Facts in proofs that were answered with 200.
        var accepted: [TransactionKey: [Transaction]] = [:]
        /// When facts were signed that stand in the ledger, as Apple was told.
        var told: [TransactionKey: [Timestamp]] = [:]
        /// Orders whose placing was answered with 201.
        var placed: Set<OrderID> = []
        /// Submissions that are said to be kept.
        var kept: Set<String> = []
        /// Deliveries and fences whose acknowledgement was answered with 200.
        var acknowledged: [String: Int64] = [:]
        /// What was answered under each key, and when the first request was made.
        var asked: [String: Timestamp] = [:]
        var answers: [String: Answer] = [:]
    }

    struct Answer: Hashable, Sendable {
        let status: Int
        let body: [UInt8]
    }

    private let state = Mutex(Testimony())

    var testimony: Testimony { state.withLock { $0 } }

    func note(_ body: (inout Testimony) -> Void) {
        state.withLock { body(&$0) }
    }

    func ask(under key: String, at now: Timestamp) {
        state.withLock { $0.asked[key] = $0.asked[key] ?? now }
    }

    /// - Returns: false when another answer was given under this key before, and it is still kept.
    func note(_ answer: Answer, under key: String, at now: Timestamp) -> Bool {
        state.withLock { state in
            guard let asked = state.asked[key], asked.duration(to: now) < Self.answersKept else { return true }
            let first = state.answers[key] ?? answer
            state.answers[key] = first
            return first == answer
        }
    }

    /// For so long a request has the same answer.
    private static let answersKept = Duration.seconds(48 * 3_600)
}
