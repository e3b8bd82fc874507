import Synchronization

/// A number that several tasks share.
final class Count: Sendable {
    let value = Atomic(0)
}
