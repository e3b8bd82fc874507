package import Storage

/// Names one message to one endpoint, the same at every attempt, so that who receives it twice can tell.
package struct WebhookMessageID: Hashable, Sendable, CustomStringConvertible {
    /// The longest that is let in, in bytes.
    package static let bytesMax = 255

    package let text: String

    /// Nil unless the text is 1 to ``bytesMax`` bytes of printable ASCII without spaces and full stops: one in the name
    /// could move the border between what is signed as the name, the time and the body.
    package init?(_ text: String) {
        guard (1...WebhookMessageID.bytesMax).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ".") })
        else { return nil }
        self.text = text
    }

    /// An event's name is the message's for every endpoint: none of its letters is a full stop.
    package init(_ event: EventID) {
        text = event.text
    }

    package var description: String { text }
}
