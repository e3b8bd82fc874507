/// Writes the members of one object; see ``JSONWriter``. That no name is given twice is the caller's promise.
package struct JSONObjectWriter: ~Copyable {
    var text = JSONText()
    private var isFirst = true

    /// Takes the buffer; whoever made the writer gives it back.
    init(onto bytes: inout [UInt8]) {
        swap(&bytes, &text.bytes)
    }

    package mutating func member(_ key: String, _ value: String?) {
        guard let value else { return }
        name(key)
        text.string(value)
    }

    package mutating func member(_ key: String, _ value: Int64?) {
        guard let value else { return }
        name(key)
        text.integer(value)
    }

    package mutating func member(_ key: String, _ value: Int?) {
        member(key, value.map(Int64.init))
    }

    package mutating func member(_ key: String, _ value: Bool?) {
        guard let value else { return }
        name(key)
        text.boolean(value)
    }

    /// A moment in the shape of ``RFC3339``, by milliseconds since 1970. One outside of the years 0 to 9999, which no
    /// signed date means, is left out too.
    package mutating func moment(_ key: String, milliseconds: Int64?) {
        guard let milliseconds, let time = CivilTime(milliseconds: milliseconds) else { return }
        name(key)
        text.moment(time)
    }

    /// Copies a value of another document, byte for byte.
    package mutating func member(_ key: String, _ value: JSONValue?) {
        guard let value else { return }
        name(key)
        text.bytes.append(contentsOf: value.raw)
    }

    /// Copies an object that was written before, byte for byte.
    package mutating func member(_ key: String, _ object: WrittenObject) {
        name(key)
        text.bytes.append(contentsOf: object.bytes)
    }

    /// A number as a string of its digits.
    package mutating func member(_ key: String, digitsOf value: Int64?) {
        guard let value else { return }
        name(key)
        text.quoted(value)
    }

    package mutating func null(_ key: String) {
        name(key)
        text.null()
    }

    package mutating func object<Failure: Error>(
        _ key: String,
        _ body: (inout JSONObjectWriter) throws(Failure) -> Void
    ) throws(Failure) {
        name(key)
        try JSONWriter.object(onto: &text.bytes, body)
    }

    package mutating func array<Failure: Error>(
        _ key: String,
        _ body: (inout JSONArrayWriter) throws(Failure) -> Void
    ) throws(Failure) {
        name(key)
        try JSONWriter.array(onto: &text.bytes, body)
    }

    private mutating func name(_ key: String) {
        text.name(key, isFirst: isFirst)
        isFirst = false
    }
}
