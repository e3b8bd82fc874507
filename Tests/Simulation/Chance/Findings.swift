import Synchronization

/// What was found to be wrong.
package struct Violation: Error, Hashable, Sendable, CustomStringConvertible {
    package let invariant: String
    package let detail: String

    package var description: String { "\(invariant): \(detail)" }
}

/// The first thing that was wrong in a run.
package final class Findings: Sendable {
    private let found = Mutex<Violation?>(nil)

    package init() {}

    package var first: Violation? { found.withLock { $0 } }

    package func note(_ invariant: String, _ detail: String) {
        found.withLock { $0 = $0 ?? Violation(invariant: invariant, detail: detail) }
    }

    /// Notes it unless it holds.
    package func expect(_ holds: Bool, _ invariant: String, _ detail: @autoclosure () -> String) {
        if !holds { note(invariant, detail()) }
    }
}
