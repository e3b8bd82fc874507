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

    package static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.milliseconds < right.milliseconds
    }
}

extension Timestamp: InstantProtocol {
    /// The moment that lies `duration` later; saturates at the ends of the range instead of trapping.
    package func advanced(by duration: Duration) -> Timestamp {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        if overflow { return Timestamp(milliseconds: seconds < 0 ? .min : .max) }
        let (delta, deltaOverflow) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        if deltaOverflow { return Timestamp(milliseconds: seconds < 0 ? .min : .max) }
        let (sum, sumOverflow) = milliseconds.addingReportingOverflow(delta)
        return Timestamp(milliseconds: sumOverflow ? (delta < 0 ? .min : .max) : sum)
    }

    package func duration(to other: Timestamp) -> Duration {
        let (difference, overflow) = other.milliseconds.subtractingReportingOverflow(milliseconds)
        return .milliseconds(overflow ? (other.milliseconds < milliseconds ? .min : .max) : difference)
    }
}
