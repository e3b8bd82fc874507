/// Finds members that are named twice in one object.
enum JSONDuplicates {
    /// Up to so many members are compared with one another; beyond, they are hashed (seeded anew in every process, so
    /// that nobody can choose names that collide).
    private static let comparedMax = 32

    /// Where the first second name stands, counted in bytes; nil if every name in every object is its only one.
    static func offset(in bytes: [UInt8], _ nodes: [JSONNode]) -> Int? {
        for index in nodes.indices where nodes[index].kind == .object && nodes[index].count > 1 {
            let found =
                nodes[index].count > comparedMax
                ? byHash(bytes, nodes, objectAt: index) : byComparison(bytes.span, nodes.span, objectAt: index)
            if let found { return Int(nodes[found].start) }
        }
        return nil
    }

    private static func byHash(_ bytes: [UInt8], _ nodes: [JSONNode], objectAt object: Int) -> Int? {
        var seen = Set<ArraySlice<UInt8>>(minimumCapacity: Int(nodes[object].count))
        var key = object + 1
        for _ in 0..<nodes[object].count {
            let text = bytes[nodes[key].range]
            let name = nodes[key].kind == .escapedString ? JSONString.unescape(text.span)[...] : text
            if !seen.insert(name).inserted { return key }
            key = Int(nodes[key + 1].next)
        }
        return nil
    }

    private static func byComparison(_ bytes: Span<UInt8>, _ nodes: Span<JSONNode>, objectAt object: Int) -> Int? {
        // One bit for each cheap hash of a name: where it was not set before, no comparison is needed.
        var marks: UInt64 = 0
        var hasEscapedName = false
        var key = object + 1
        for _ in 0..<nodes[object].count {
            let node = nodes[key]
            hasEscapedName = hasEscapedName || node.kind == .escapedString
            let mark = hasEscapedName ? 0 : self.mark(bytes, node)
            if (hasEscapedName || marks & mark != 0) && repeats(bytes, nodes, objectAt: object, key) { return key }
            marks |= mark
            key = Int(nodes[key + 1].next)
        }
        return nil
    }

    private static func mark(_ bytes: Span<UInt8>, _ node: JSONNode) -> UInt64 {
        guard node.end > node.start else { return 1 }
        let middle = bytes[Int(node.start + (node.end - node.start) / 2)]
        let hash = UInt32(bytes[Int(node.start)]) &* 7 &+ UInt32(middle) &* 13 &+ (node.end - node.start) &* 3
        return 1 << UInt64((hash &+ UInt32(bytes[Int(node.end - 1)]) &* 31) & 63)
    }

    /// Whether a member before `key` has its name.
    private static func repeats(
        _ bytes: Span<UInt8>,
        _ nodes: Span<JSONNode>,
        objectAt object: Int,
        _ key: Int
    ) -> Bool {
        var other = object + 1
        while other < key {
            if areEqual(bytes, nodes[other], nodes[key]) { return true }
            other = Int(nodes[other + 1].next)
        }
        return false
    }

    private static func areEqual(_ bytes: Span<UInt8>, _ left: JSONNode, _ right: JSONNode) -> Bool {
        if left.kind == .escapedString || right.kind == .escapedString {
            return JSONString.unescape(bytes.extracting(left.range))
                == JSONString.unescape(bytes.extracting(right.range))
        }
        guard left.end - left.start == right.end - right.start else { return false }
        for index in 0..<Int(left.end - left.start)
        where bytes[Int(left.start) + index] != bytes[Int(right.start) + index] { return false }
        return true
    }
}
