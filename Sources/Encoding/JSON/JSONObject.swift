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

    /// The same members for who wants to `switch` over their names: no name becomes a string unless it is asked to.
    package var fields: Fields { Fields(object: self) }

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

    /// Walks the members in the order of the text.
    package struct Fields: Sequence, Sendable {
        let object: JSONObject

        package var underestimatedCount: Int { object.count }

        package func makeIterator() -> Iterator {
            Iterator(tape: object.tape, at: object.index + 1, left: object.count)
        }

        /// See ``Fields``.
        package struct Iterator: IteratorProtocol {
            fileprivate let tape: JSONTape
            fileprivate var at: Int
            fileprivate var left: Int

            package mutating func next() -> (name: JSONName, value: JSONValue)? {
                guard left > 0 else { return nil }
                let name = JSONName(key: JSONValue(tape: tape, index: at))
                let value = JSONValue(tape: tape, index: at + 1)
                at = Int(value.node.next)
                left -= 1
                return (name, value)
            }
        }
    }
}
