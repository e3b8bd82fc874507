import Storage

/// The newest messages of an app's feed: read and made once, for all who follow it.
struct FeedTail {
    /// Who falls further behind than this reads for itself.
    static let messagesMax = 500
    static let bytesMax = 4 << 20

    /// All messages after it and up to ``end`` are here.
    private(set) var start: EventCursor
    private(set) var end: EventCursor
    private var messages: [FeedMessage] = []
    private var bytes = 0

    init(at end: EventCursor) {
        start = end
        self.end = end
    }

    mutating func append(_ new: [FeedMessage], upTo cursor: EventCursor) {
        messages += new
        bytes += new.reduce(0) { $0 + $1.bytes.count }
        end = cursor
        var count = 0
        for message in messages {
            guard messages.count - count > FeedTail.messagesMax || bytes > FeedTail.bytesMax else { break }
            bytes -= message.bytes.count
            start = message.cursor
            count += 1
        }
        messages.removeFirst(count)
    }

    /// The messages after a place; `nil` when some of them are here no more.
    func messages(after cursor: EventCursor) -> ArraySlice<FeedMessage>? {
        guard cursor >= start else { return nil }
        // From behind: most who follow are near the end.
        let last = messages.lastIndex { $0.cursor <= cursor }
        return messages[(last.map { $0 + 1 } ?? 0)...]
    }
}
