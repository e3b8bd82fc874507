import Synchronization

/// What becomes of the way to a database, for whoever looks after it.
package enum DatabaseEvent: Hashable, Sendable {
    /// A read or a write was given up because no connection could be had, or none that takes writes; in the words of the
    /// client library, or of ours, which name no password.
    case lost(String)
    /// A transaction was done over a connection that was made since.
    case back
}

/// Whether the connections of a store have lost their database; tells of it when that changes, and not at every attempt.
final class DatabaseWatch: Sendable {
    private struct State {
        /// Why the last connection ended or could not be had; `nil` when a new one has worked since.
        var words: String?
        var isLost = false
    }

    private let tell: @Sendable (DatabaseEvent) -> Void
    private let state = Mutex(State())

    init(_ tell: @escaping @Sendable (DatabaseEvent) -> Void) { self.tell = tell }

    /// Notes why a connection could not be had, or ended.
    func note(_ words: String) { state.withLock { $0.words = words } }

    /// A read or a write was given up. One that had its last try before somebody else's went well tells nothing new.
    func lose() {
        let words: String? = state.withLock { state in
            guard !state.isLost, let words = state.words else { return nil }
            state.isLost = true
            return words
        }
        if let words { tell(.lost(words)) }
    }

    /// A new connection has done a transaction. An old one that goes on working shows nothing: to others the way may be shut.
    func find() {
        let wasLost = state.withLock { state in
            defer { state = State() }
            return state.isLost
        }
        if wasLost { tell(.back) }
    }
}
