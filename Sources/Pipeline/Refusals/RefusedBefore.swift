import PurchaseModel
import Storage
import Synchronization
import Verification

/// Remembers by hash what was refused, so that the same forgery again costs a hash and a look-up.
///
/// Only what the bytes and the app's policy alone decide is kept; both are fixed while the process runs. Bounded, in
/// two generations: when the newer is full, the older is dropped.
final class RefusedBefore: Sendable {
    /// 32-byte hashes, one word and up to four numbers each: some 2 MiB when both generations are full.
    static let generationMax = 8_192

    struct Name: Hashable {
        let app: AppID
        let digest: ProofDigest
    }

    /// What is left of a report: the claims of a forgery are not worth memory, but for a few numbers to find it by.
    struct Remnant {
        static let claimedMax = 4

        let format: ProofFormat
        let reason: Reason
        let claimed: [TransactionID]
    }

    private struct State {
        var young: [Name: Remnant] = [:]
        var old: [Name: Remnant] = [:]
    }

    private let state = Mutex(State())

    func remnant(of name: Name) -> Remnant? {
        state.withLock { $0.young[name] ?? $0.old[name] }
    }

    func remember(_ remnant: Remnant, for name: Name) {
        let few = Array(remnant.claimed.prefix(Remnant.claimedMax))
        let remnant = Remnant(format: remnant.format, reason: remnant.reason, claimed: few)
        state.withLock { state in
            if state.young.count >= RefusedBefore.generationMax {
                state.old = state.young
                state.young = [:]
            }
            state.young[name] = remnant
        }
    }
}
