import HTTP
import PurchaseModel
import Storage
import Synchronization

/// What customers were told of their entitlements, for as long as it is still so: what apps ask most needs no look into the
/// ledger then.
///
/// An answer is given again only while nothing has been written that it follows from, and before anything in it ends.
final class EntitlementAnswers: Sendable {
    struct Question: Hashable, Sendable {
        let app: AppID
        let customer: CustomerID
        /// The stores of which whoever asks may know.
        let sight: Set<StoreEnvironment>?
    }

    private struct Kept: Sendable {
        let answer: EntityTag.Tagged
        let write: UInt64
        let places: [EntitlementMarks.Place]
        let moments: Range<Timestamp>
    }

    private struct State {
        var young: [Question: Kept] = [:]
        var old: [Question: Kept] = [:]
    }

    /// Twice as many are kept at most.
    private static let generationMax = 4_096
    /// In bytes; with whose purchases there are many, the ledger is asked.
    private static let bodyMax = 4_096
    private static let chainsMax = 64

    private let marks: EntitlementMarks
    private let state = Mutex(State())

    init(_ marks: EntitlementMarks) {
        self.marks = marks
    }

    /// To be noted before the ledger is read.
    var lastWrite: UInt64 { marks.last }

    func answer(to question: Question, at now: Timestamp) -> EntityTag.Tagged? {
        let kept = state.withLock { state -> Kept? in
            if let young = state.young[question] { return young }
            guard let old = state.old.removeValue(forKey: question) else { return nil }
            Self.keep(old, for: question, in: &state)
            return old
        }
        guard let kept, kept.moments.contains(now), marks.areUnchanged(kept.places, since: kept.write) else {
            return nil
        }
        return kept.answer
    }

    /// - Parameters:
    ///   - answer: made of what was read.
    ///   - question: what was asked.
    ///   - entitlements: those in the answer: it holds until the first of them ends.
    ///   - chains: all that the customer owns or shares and that whoever asks may see.
    ///   - write: the ``lastWrite`` before reading.
    ///   - now: the moment of which the answer tells.
    func keep(
        _ answer: EntityTag.Tagged,
        to question: Question,
        of entitlements: [Entitlement],
        from chains: [ChainKey],
        since write: UInt64,
        at now: Timestamp
    ) {
        let end = entitlements.compactMap(\.until).min() ?? Timestamp(milliseconds: .max)
        guard now < end, chains.count <= Self.chainsMax, answer.response.body.count <= Self.bodyMax else { return }
        let customer = EntitlementMarks.Place(app: question.app, customer: question.customer)
        let kept = Kept(
            answer: answer,
            write: write,
            places: [customer] + chains.map { EntitlementMarks.Place($0) },
            moments: now..<end
        )
        state.withLock { Self.keep(kept, for: question, in: &$0) }
    }

    private static func keep(_ kept: Kept, for question: Question, in state: inout State) {
        if state.young.count >= generationMax {
            state.old = state.young
            state.young = [:]
        }
        state.young[question] = kept
    }
}
