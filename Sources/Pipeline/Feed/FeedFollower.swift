import PurchaseModel
package import Storage
import Synchronization

/// Somebody who reads an app's feed on and on, and its place there.
package final class FeedFollower: Sendable {
    /// So much is handed out at once; one message more than fits into the bytes.
    private static let messagesMax = 100
    private static let bytesMax = 64 << 10

    private let feed: LiveFeed
    private let app: AppID
    private let filter: EventFilter
    private let place: Mutex<EventCursor>

    init(_ feed: LiveFeed, app: AppID, after cursor: EventCursor, where filter: EventFilter) {
        self.feed = feed
        self.app = app
        self.filter = filter
        place = Mutex(cursor)
        feed.enter(app)
    }

    deinit {
        feed.leave(app)
    }

    /// Up to where everything was handed out, or passed over because it is not wanted.
    package var cursor: EventCursor { place.withLock { $0 } }

    /// The next messages, each once and in commit order. For one task at a time.
    ///
    /// - Parameter until: the uptime until which to wait for some.
    /// - Returns: none when there were none until then, or the task is cancelled.
    /// - Throws: `StoreFailure`; then nothing was passed over.
    package func next(until: Duration) async throws(StoreFailure) -> [FeedMessage] {
        while !Task.isCancelled {
            let cursor = cursor
            let taken =
                if let (messages, end) = feed.newest(app, after: cursor) {
                    take(messages, upTo: end)
                } else {
                    try await read(after: cursor, until: until)
                }
            if !taken.isEmpty { return taken }
            if feed.uptime() >= until { return [] }
            // Not when what was passed over was not the last.
            await feed.wait(app, after: self.cursor, until: until)
        }
        return []
    }

    /// What the newest messages do not hold: how far back a reader may begin is not limited. One page at least is read.
    private func read(after cursor: EventCursor, until: Duration) async throws(StoreFailure) -> [FeedMessage] {
        var cursor = cursor
        while true {
            let page = try await feed.page(app, after: cursor, where: filter, limit: FeedFollower.messagesMax)
            let taken = take(page.events.lazy.map { FeedMessage($0) }, upTo: page.next)
            if !taken.isEmpty || !page.hasMore || Task.isCancelled || feed.uptime() >= until { return taken }
            cursor = page.next
        }
    }

    /// Takes what fits, and goes on after it.
    private func take(_ messages: some Sequence<FeedMessage>, upTo end: EventCursor) -> [FeedMessage] {
        var taken: [FeedMessage] = []
        var bytes = 0
        for message in messages where filter.includes(message.event) {
            taken.append(message)
            bytes += message.bytes.count
            guard bytes < FeedFollower.bytesMax, taken.count < FeedFollower.messagesMax else {
                place.withLock { $0 = message.cursor }
                return taken
            }
        }
        place.withLock { $0 = end }
        return taken
    }
}
