package import Storage

/// An event as the shop is told of it, and its place in its app's feed.
package struct FeedMessage: Sendable, Equatable {
    package let cursor: EventCursor
    package let event: EventRow
    /// The text of its webhook, byte for byte.
    package let bytes: [UInt8]

    init(_ placed: PlacedEvent) {
        cursor = placed.cursor
        event = placed.event
        bytes = WebhookBody.bytes(of: placed.event)
    }
}
