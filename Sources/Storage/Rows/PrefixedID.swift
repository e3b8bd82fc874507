/// A name that says by its first letters what it names: `evt_…`. The prefix, then 1 to ``nameBytesMax`` ASCII letters,
/// digits, hyphens and underscores, so that equal text is equal bytes and the name may stand in a header or a path.
package protocol PrefixedID: Hashable, Sendable, CustomStringConvertible {
    static var prefix: String { get }
    var text: String { get }
    init(checked text: String)
}

extension PrefixedID {
    /// Room for 256 bits in any writing, no room for a text that somebody hides in it.
    package static var nameBytesMax: Int { 64 }

    /// `nil` unless the text is made as the type says.
    package init?(_ text: String) {
        let (bytes, prefix) = (Array(text.utf8), Array(Self.prefix.utf8))
        let name = bytes.dropFirst(prefix.count)
        guard bytes.starts(with: prefix), (1...Self.nameBytesMax).contains(name.count) else { return nil }
        for byte in name {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                continue
            default: return nil
            }
        }
        self.init(checked: text)
    }

    package var description: String { text }
}
