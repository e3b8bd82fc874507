package import PurchaseModel
import Synchronization

/// When something was last written that customers' entitlements follow from, so that what was read of them can be kept and
/// still never be older than the last commit.
///
/// Customers and chains share marks by their hashes: what is found unchanged is unchanged, and what is found changed may be
/// somebody else's. Only a store whose every write goes through one process has marks.
package final class EntitlementMarks: Sendable {
    /// The mark of a customer or of a chain.
    package struct Place: Hashable, Sendable {
        fileprivate let index: Int

        /// Of which chains a customer owns or shares, and what was granted to her by hand.
        package init(app: AppID, customer: CustomerID) {
            self.init { hasher in
                hasher.combine(app)
                hasher.combine(customer)
            }
        }

        /// Of whose a chain is, what was given in it, and how its subscription stands.
        package init(_ chain: ChainKey) {
            self.init { $0.combine(chain) }
        }

        private init(_ combine: (inout Hasher) -> Void) {
            var hasher = Hasher()
            combine(&hasher)
            index = Int(UInt(bitPattern: hasher.finalize()) % UInt(EntitlementMarks.count))
        }
    }

    private struct State {
        var last: UInt64 = 0
        /// The number of the last write of each place; the highest there is while one is under way.
        var marks = [UInt64](repeating: 0, count: EntitlementMarks.count)
        var open: Set<Place> = []
    }

    private static let count = 4_096

    private let state = Mutex(State())

    /// The number of the last write: whatever is read from now on is at least as new.
    package var last: UInt64 { state.withLock(\.last) }

    /// Whether no write of these places came after one, nor is under way.
    package func areUnchanged(_ places: [Place], since write: UInt64) -> Bool {
        state.withLock { state in places.allSatisfy { state.marks[$0.index] <= write } }
    }

    /// A commit is about to write these places; until it is settled none of them is unchanged. One at a time.
    func begin(_ places: Set<Place>) {
        guard !places.isEmpty else { return }
        state.withLock { state in
            state.open = places
            for place in places { state.marks[place.index] = .max }
        }
    }

    /// The commit has ended, however it did.
    func settle() {
        state.withLock { state in
            guard !state.open.isEmpty else { return }
            state.last += 1
            for place in state.open { state.marks[place.index] = state.last }
            state.open = []
        }
    }

    /// Everything is another's now.
    func settleAll() {
        state.withLock { state in
            state.last += 1
            state.marks = Array(repeating: state.last, count: Self.count)
            state.open = []
        }
    }
}

extension Decision {
    /// Adds what entitlements follow from and this writes. A customer who loses a chain knew it by the chain.
    func note(in places: inout Set<EntitlementMarks.Place>) {
        // Mostly all that is written is of one chain.
        var last: ChainKey?
        func note(_ chain: ChainKey) {
            if chain == last { return }
            places.insert(.init(chain))
            last = chain
        }
        for change in owners {
            let owner = change.row
            note(owner.chain)
            for customer in [owner.customer] + owner.sharers {
                places.insert(.init(app: owner.chain.app, customer: customer))
            }
        }
        for change in fulfilments { note(change.row.chain) }
        for change in subscriptions { note(change.row.chain) }
        for change in grantedEntitlements {
            places.insert(.init(app: change.row.key.app, customer: change.row.key.customer))
        }
    }
}
