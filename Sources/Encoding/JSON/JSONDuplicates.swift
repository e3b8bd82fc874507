/// Finds members that are named twice in one object, in time that grows with the length of the text only.
enum JSONDuplicates {
    /// Up to so many members are compared with one another; beyond, they are hashed (seeded anew in every process, so
    /// that nobody can choose names that collide).
    private static let comparedMax = 32
    /// Longer names are hashed too, or 32 that differ only in their last byte would be read 500 times.
    private static let comparedBytesMax = 64

    /// Where the first second name stands, counted in bytes; nil if every name in every object is its only one.
    static func offset(in bytes: [UInt8], _ nodes: [JSONNode]) -> Int? {
        for index in nodes.indices where nodes[index].kind == .object && nodes[index].count > 1 {
            let found =
                nodes[index].count <= comparedMax
                ? byComparison(bytes.span, nodes.span, objectAt: index)
                : byHash(bytes.span, nodes.span, objectAt: index)
            if let found { return Int(nodes[found].start) }
        }
        return nil
    }

    private static func byHash(_ bytes: Span<UInt8>, _ nodes: Span<JSONNode>, objectAt object: Int) -> Int? {
        var seen = Set<Int>(minimumCapacity: Int(nodes[object].count))
        var key = object + 1
        for _ in 0..<nodes[object].count {
            // Of two hashes that are equal the names are compared, for they may differ.
            if !seen.insert(hash(ofNameAt: key, bytes, nodes)).inserted, repeats(bytes, nodes, objectAt: object, key) {
                return key
            }
            key = Int(nodes[key + 1].next)
        }
        return nil
    }

    /// Eight bytes at a time, which is several times as fast as one.
    private static func hash(ofNameAt key: Int, _ bytes: Span<UInt8>, _ nodes: Span<JSONNode>) -> Int {
        let text = bytes.extracting(nodes[key].range)
        if nodes[key].kind == .escapedString { return hash(JSONString.unescape(text).span) }
        return hash(text)
    }

    private static func hash(_ name: Span<UInt8>) -> Int {
        var hasher = Hasher()
        hasher.combine(name.count)
        var at = 0
        while at < name.count {
            var word: UInt64 = 0
            for index in at..<min(at + 8, name.count) { word = word &<< 8 | UInt64(name[index]) }
            hasher.combine(word)
            at += 8
        }
        return hasher.finalize()
    }

    /// Whether a member before `key` has its name.
    private static func repeats(
        _ bytes: Span<UInt8>,
        _ nodes: Span<JSONNode>,
        objectAt object: Int,
        _ key: Int
    ) -> Bool {
        let name = unescaped(bytes, nodes[key])
        var other = object + 1
        while other < key {
            if unescaped(bytes, nodes[other]) == name { return true }
            other = Int(nodes[other + 1].next)
        }
        return false
    }

    private static func unescaped(_ bytes: Span<UInt8>, _ node: JSONNode) -> [UInt8] {
        let text = bytes.extracting(node.range)
        return node.kind == .escapedString ? JSONString.unescape(text) : text.indices.map { text[$0] }
    }

    /// For names that are short and free of escapes, as in every honest document; others are hashed.
    private static func byComparison(_ bytes: Span<UInt8>, _ nodes: Span<JSONNode>, objectAt object: Int) -> Int? {
        // One bit for each cheap hash of a name: where it was not set before, no comparison is needed.
        var marks: UInt64 = 0
        var key = object + 1
        for _ in 0..<nodes[object].count {
            let node = nodes[key]
            guard node.kind == .plainString, node.range.count <= comparedBytesMax else {
                return byHash(bytes, nodes, objectAt: object)
            }
            let name = bytes.extracting(node.range)
            let mark = mark(name)
            if marks & mark != 0 {
                var other = object + 1
                while other < key {
                    if ByteSearch.areEqual(name, bytes.extracting(nodes[other].range)) { return key }
                    other = Int(nodes[other + 1].next)
                }
            }
            marks |= mark
            key = Int(nodes[key + 1].next)
        }
        return nil
    }

    private static func mark(_ name: Span<UInt8>) -> UInt64 {
        guard !name.isEmpty else { return 1 }
        let ends = Int(name[0]) &* 7 &+ Int(name[name.count &- 1]) &* 31
        let hash = ends &+ Int(name[name.count / 2]) &* 13 &+ name.count &* 3
        return 1 &<< UInt64(truncatingIfNeeded: hash & 63)
    }
}
