/// The elements of an array, in the order of the text.
package struct JSONArray: Sequence, Sendable {
    let tape: JSONTape
    let index: Int

    package var count: Int { Int(tape.nodes[index].count) }
    package var isEmpty: Bool { count == 0 }
    package var underestimatedCount: Int { count }

    /// The element at `position`; nil beyond the end. It is found by walking there.
    package subscript(_ position: Int) -> JSONValue? {
        guard position >= 0, position < count else { return nil }
        var at = index + 1
        for _ in 0..<position { at = Int(tape.nodes[at].next) }
        return JSONValue(tape: tape, index: at)
    }

    /// The array as a value, for its kind, its offset and its text.
    package var value: JSONValue { JSONValue(tape: tape, index: index) }

    package func makeIterator() -> Iterator {
        Iterator(tape: tape, at: index + 1, left: count)
    }

    /// Walks the elements in the order of the text.
    package struct Iterator: IteratorProtocol {
        fileprivate let tape: JSONTape
        fileprivate var at: Int
        fileprivate var left: Int

        package mutating func next() -> JSONValue? {
            guard left > 0 else { return nil }
            let value = JSONValue(tape: tape, index: at)
            at = Int(value.node.next)
            left -= 1
            return value
        }
    }
}
