/// A moment, in whole milliseconds since 1970-01-01T00:00:00Z: Apple's unit.
///
/// It has no text form of its own; `RFC3339` in Encoding writes and reads it.
package struct Timestamp: Hashable, Comparable, Sendable {
    package let milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    package init(seconds: Int64) {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        self.milliseconds = overflow ? (seconds < 0 ? .min : .max) : product
    }

    /// Cut to whole ones, as receipts cut them.
    package var seconds: Int64 { milliseconds / 1_000 }

    package static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.milliseconds < right.milliseconds
    }
}

extension Timestamp: InstantProtocol {
    /// The moment that lies `duration` later; saturates at the ends of the range instead of trapping.
    package func advanced(by duration: Duration) -> Timestamp {
        // Longer ones would not fit into `Int64` seconds either, on which `components` traps.
        if duration >= .milliseconds(Int64.max) { return shifted(by: .max) }
        if duration <= .milliseconds(Int64.min) { return shifted(by: .min) }
        let (seconds, attoseconds) = duration.components
        return shifted(by: seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    }

    private func shifted(by delta: Int64) -> Timestamp {
        let (sum, overflow) = milliseconds.addingReportingOverflow(delta)
        return Timestamp(milliseconds: overflow ? (delta < 0 ? .min : .max) : sum)
    }

    package func duration(to other: Timestamp) -> Duration {
        let (difference, overflow) = other.milliseconds.subtractingReportingOverflow(milliseconds)
        return .milliseconds(overflow ? (other.milliseconds < milliseconds ? .min : .max) : difference)
    }
}
