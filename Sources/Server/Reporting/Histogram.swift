/// Counts durations in fixed buckets, from a tenth of a millisecond to ten seconds.
struct Histogram: Sendable {
    /// Upper bounds in seconds, as Prometheus wants them; the last bucket has none.
    static let bounds: [Double] = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    private(set) var sum = 0.0
    private(set) var total = 0

    mutating func observe(_ duration: Duration) {
        let (whole, attoseconds) = duration.components
        let seconds = Double(whole) + Double(attoseconds) / 1e18
        counts[Histogram.bounds.firstIndex { seconds <= $0 } ?? Histogram.bounds.count] += 1
        sum += seconds
        total += 1
    }
}
