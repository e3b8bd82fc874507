import PurchaseModel

/// The number of the last event of each stream, as one write has read it or given it away: 0 where there is none.
final class StreamNumbers {
    /// Whether nobody else can give one away meanwhile. Otherwise what was read tells nothing of how it is when events are
    /// added.
    let areLasting: Bool
    private var last: [StreamKey: Int64] = [:]

    init(areLasting: Bool) { self.areLasting = areLasting }

    /// `nil` when it was not read.
    subscript(stream: StreamKey) -> Int64? {
        get { last[stream] }
        set { last[stream] = newValue }
    }
}
