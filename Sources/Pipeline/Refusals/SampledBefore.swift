import PurchaseModel
import Storage
import Synchronization
import Verification

/// Remembers whose proofs there are samples of. Bounded, in two generations: when the newer is full, the older is dropped,
/// and what was in it is sampled again.
final class SampledBefore: Sendable {
    /// A hash, a customer's id and two words each: some 2 MiB when both generations are full.
    static let generationMax = 4_096

    /// A sample that was kept today may be gone tomorrow, and she may try again.
    struct Name: Hashable {
        let proof: RefusedBefore.Name
        let customer: CustomerID?
        let reason: Reason
        let day: DayOfTime
    }

    private struct State {
        var young: Set<Name> = []
        var old: Set<Name> = []
    }

    private let state = Mutex(State())

    /// - Returns: whether it is new.
    func insert(_ name: Name) -> Bool {
        state.withLock { state in
            guard !state.young.contains(name), !state.old.contains(name) else { return false }
            if state.young.count >= SampledBefore.generationMax {
                state.old = state.young
                state.young = []
            }
            state.young.insert(name)
            return true
        }
    }
}
