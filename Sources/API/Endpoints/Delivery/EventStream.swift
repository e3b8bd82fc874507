import HTTP
import Pipeline
import PurchaseModel
import Storage
import Synchronization

/// `GET /v1/events` as Server-Sent Events: the same messages, as they come.
struct EventStream: Sendable {
    static let mediaType = "text/event-stream"
    /// In such a silence a comment, or how far was read, is sent: proxies close after a minute or half of one.
    static let silenceMax = Duration.seconds(15)
    /// Then the client comes again, perhaps to another server, and shows its key anew.
    static let lifetime = Duration.seconds(3_600)

    let feed: LiveFeed

    /// Whether a request is for this and not for the listing. `*/*` is for the listing.
    static func isWanted(_ fields: HTTPFields) -> Bool {
        fields.all("Accept").contains { value in
            value.utf8.split(separator: UInt8(ascii: ",")).contains { range in
                let text = range.filter { $0 != 0x20 && $0 != 0x09 }.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
                let parts = text.split(separator: UInt8(ascii: ";"))
                return parts.first?.elementsEqual(mediaType.utf8) == true && !parts.dropFirst().contains(where: isNone)
            }
        }
    }

    /// Whether a parameter says that this is not acceptable, such as `q=0.0`: RFC 9110 § 12.4.2.
    private static func isNone(_ parameter: ArraySlice<UInt8>) -> Bool {
        parameter.starts(with: "q=0".utf8)
            && parameter.dropFirst(3).allSatisfy { $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: ".") }
    }

    /// - Parameters:
    ///   - request: asks for it.
    ///   - app: with what the key may know.
    ///   - isInForce: whether the key opens anything still; once it does not, nothing more is told.
    /// - Returns: the stream, or what is wrong.
    func respond(
        to request: HTTPRequest,
        app: AppPolicy,
        while isInForce: @escaping @Sendable () -> Bool
    ) -> HTTPResponse {
        do throws(QueryFields.Fault) {
            let query = try EventQuery(request.query, of: app, isStream: true)
            let cursor = try EventStream.lastEventID(request.fields) ?? query.cursor
            let reading = Reading(feed, feed.follow(app.id, after: cursor, where: query.filter), while: isInForce)
            return HTTPResponse(
                .ok,
                fields: [
                    "Content-Type": EventStream.mediaType, "Cache-Control": "no-store",
                    // nginx would keep the answer back until there is much of it.
                    "X-Accel-Buffering": "no",
                ],
                stream: HTTPStream { () async throws(HTTPStream.Broken) in try await reading.next() }
            )
        } catch {
            return error.response
        }
    }

    /// Where a client that comes again goes on: it heard of all up to there. Without the field, or when it is empty, it
    /// heard of nothing.
    private static func lastEventID(_ fields: HTTPFields) throws(QueryFields.Fault) -> EventCursor? {
        let texts = fields.all("Last-Event-ID")
        guard texts.contains(where: { !$0.isEmpty }) else { return nil }
        guard texts.count == 1, let number = texts.first.flatMap({ TransactionID($0)?.number }) else {
            throw QueryFields.Fault(detail: "Last-Event-ID is the id of an event in this feed.")
        }
        return EventCursor(position: number)
    }
}

/// One client's reading.
private final class Reading: Sendable {
    private let feed: LiveFeed
    private let follower: FeedFollower
    private let isInForce: @Sendable () -> Bool
    /// The uptime at which it ends; `nil` before it has begun.
    private let end = Mutex<Duration?>(nil)
    /// Where the client would go on if it came again.
    private let told: Mutex<EventCursor>

    init(_ feed: LiveFeed, _ follower: FeedFollower, while isInForce: @escaping @Sendable () -> Bool) {
        self.feed = feed
        self.follower = follower
        self.isInForce = isInForce
        told = Mutex(follower.cursor)
    }

    func next() async throws(HTTPStream.Broken) -> [UInt8]? {
        let now = feed.uptime()
        let end = end.withLock { end in
            defer { end = end ?? now + EventStream.lifetime }
            return end
        }
        guard let end else { return ServerSentEvents.greeting }
        guard now < end else { return nil }
        do throws(StoreFailure) {
            let messages = try await follower.next(until: min(now + EventStream.silenceMax, end))
            // Behind the wait: that may have been long.
            guard isInForce() else { return nil }
            let place = messages.last?.cursor ?? follower.cursor
            let isNew = told.withLock { told in
                defer { told = place }
                return told != place
            }
            if messages.isEmpty {
                return isNew ? ServerSentEvents.place(String(place.position)) : ServerSentEvents.heartbeat
            }
            var text: [UInt8] = []
            for message in messages {
                let id = String(message.cursor.position)
                ServerSentEvents.append(id: id, event: message.event.type, data: message.bytes, to: &text)
            }
            return text
        } catch {
            throw HTTPStream.Broken()
        }
    }
}
