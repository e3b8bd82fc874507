/// The members of an object, in the order of the text; no two have the same name.
package struct JSONObject: Sendable {
    let tape: JSONTape
    let index: Int

    package var count: Int { Int(tape.nodes[index].count) }

    /// The value of the member with this name, compared byte for byte with what the name says.
    package subscript(_ key: String) -> JSONValue? {
        tape.value(of: key, inObjectAt: index).map { JSONValue(tape: tape, index: $0) }
    }

    package var members: Members { Members(object: self) }

    /// Goes through the same members for who wants to `switch` over their names: no name becomes a string unless it is
    /// asked to, and nothing is kept for longer than the call.
    package func forEachMember<Failure: Error>(
        _ body: (_ name: JSONName, _ value: JSONValue) throws(Failure) -> Void
    ) throws(Failure) {
        let nodes = tape.nodes
        var at = index + 1
        for _ in 0..<nodes[index].count {
            try body(JSONName(tape: tape, index: at, nodes[at]), JSONValue(tape: tape, index: at + 1))
            at = Int(nodes[at + 1].next)
        }
    }

    /// The object as a value, for its kind, its offset and its text.
    package var value: JSONValue { JSONValue(tape: tape, index: index) }

    /// Walks the members in the order of the text.
    package struct Members: Sequence, Sendable {
        let object: JSONObject

        package var underestimatedCount: Int { object.count }

        package func makeIterator() -> Iterator {
            Iterator(tape: object.tape, at: object.index + 1, left: object.count)
        }

        /// See ``Members``.
        package struct Iterator: IteratorProtocol {
            fileprivate let tape: JSONTape
            fileprivate var at: Int
            fileprivate var left: Int

            package mutating func next() -> (key: String, value: JSONValue)? {
                guard left > 0, let key = JSONValue(tape: tape, index: at).string else { return nil }
                let value = JSONValue(tape: tape, index: at + 1)
                at = Int(value.node.next)
                left -= 1
                return (key, value)
            }
        }
    }
}
