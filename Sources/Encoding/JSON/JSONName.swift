/// The name of a member where it stands in the text.
package struct JSONName: Sendable {
    let key: JSONValue

    /// How many bytes of UTF-8 the name has.
    package var bytesCount: Int { key.node.kind == .plainString ? key.node.range.count : key.utf8?.count ?? 0 }

    /// The name as a string of its own.
    package var text: String { key.string ?? "" }
}

/// Whether a name says `text`, byte for byte: what `case "bundleId":` asks.
package func ~= (text: String, name: JSONName) -> Bool {
    name.key.says(text)
}
