/// A checked text and, in the order of the text, where its values lie.
///
/// Everything below is laid out flat: a container's node is followed by the nodes of what it holds, a member is the
/// node of its key and then those of its value. Made only by ``JSONParser``, so readers need not check again.
final class JSONTape: Sendable {
    let bytes: [UInt8]
    let nodes: [JSONNode]

    init(bytes: [UInt8], nodes: [JSONNode]) {
        self.bytes = bytes
        self.nodes = nodes
    }
}

extension JSONTape {
    /// Whether the string or key at `index` says `text`, byte for byte.
    func says(_ text: String, _ index: Int) -> Bool {
        let (bytes, node) = (bytes, nodes[index])
        return Self.says(text.utf8.span, bytes.span, node)
    }

    /// Where the value lies whose key in the object at `object` says `key`, byte for byte.
    func value(of key: String, inObjectAt object: Int) -> Int? {
        let (bytes, nodes) = (bytes, nodes)
        let wanted = key.utf8.span
        let end = Int(nodes[object].next)
        var at = object + 1
        while at < end {
            if Self.says(wanted, bytes.span, nodes[at]) { return at + 1 }
            at = Int(nodes[at + 1].next)
        }
        return nil
    }

    @inline(__always)
    private static func says(_ wanted: Span<UInt8>, _ bytes: Span<UInt8>, _ node: JSONNode) -> Bool {
        switch node.kind {
        case .plainString:
            // Most names have another length: that is seen without a call.
            wanted.count == node.range.count && ByteSearch.areEqual(wanted, bytes.extracting(node.range))
        case .escapedString: JSONString.says(wanted, bytes.extracting(node.range))
        default: false
        }
    }
}
