/// What makes two notifications of Apple's the same: its UUID in lower case, or of version 1, which has none, a digest of
/// what came. 1 to 128 bytes of ASCII.
package struct NotificationID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package static let bytesMax = 128

    package let text: String

    /// `nil` unless the text is 1 to ``bytesMax`` letters, digits, hyphens and underscores.
    package init?(_ text: String) {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard isPlain, (1...Self.bytesMax).contains(text.utf8.count) else { return nil }
        self.text = text
    }

    package var description: String { text }

    package static func < (left: NotificationID, right: NotificationID) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}
