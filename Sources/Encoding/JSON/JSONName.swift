/// The name of a member where it stands in the text.
@usableFromInline package struct JSONName: Sendable {
    private let tape: JSONTape
    private let index: Int
    /// How many bytes of UTF-8 the name has.
    @usableFromInline package let bytesCount: Int

    init(tape: JSONTape, index: Int, _ node: JSONNode) {
        self.tape = tape
        self.index = index
        bytesCount = node.kind == .plainString ? node.range.count : JSONValue(tape: tape, index: index).utf8?.count ?? 0
    }

    /// The name as a string of its own.
    package var text: String { JSONValue(tape: tape, index: index).string ?? "" }

    /// Whether the name says `text`, byte for byte.
    @usableFromInline package func says(_ text: String) -> Bool { tape.says(text, index) }
}

/// What `case "bundleId":` asks. Most names that are asked for have another length: that is seen without a call.
@inlinable package func ~= (text: String, name: JSONName) -> Bool {
    text.utf8.count == name.bytesCount && name.says(text)
}
