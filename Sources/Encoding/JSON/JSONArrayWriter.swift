/// Writes the elements of one array; see ``JSONWriter``.
package struct JSONArrayWriter: ~Copyable {
    var text = JSONText()
    private var isFirst = true

    /// Takes the buffer; whoever made the writer gives it back.
    init(onto bytes: inout [UInt8]) {
        swap(&bytes, &text.bytes)
    }

    package mutating func element(_ value: String?) {
        guard let value else { return }
        separate()
        text.string(value)
    }

    package mutating func element(_ value: Int64?) {
        guard let value else { return }
        separate()
        text.integer(value)
    }

    package mutating func element(_ value: Int?) {
        element(value.map(Int64.init))
    }

    package mutating func element(_ value: Bool?) {
        guard let value else { return }
        separate()
        text.boolean(value)
    }

    /// Copies a value of another document, byte for byte.
    package mutating func element(_ value: JSONValue?) {
        guard let value else { return }
        separate()
        text.bytes.append(contentsOf: value.raw)
    }

    package mutating func null() {
        separate()
        text.null()
    }

    package mutating func object<Failure: Error>(
        _ body: (inout JSONObjectWriter) throws(Failure) -> Void
    ) throws(Failure) {
        separate()
        try JSONWriter.object(onto: &text.bytes, body)
    }

    package mutating func array<Failure: Error>(
        _ body: (inout JSONArrayWriter) throws(Failure) -> Void
    ) throws(Failure) {
        separate()
        try JSONWriter.array(onto: &text.bytes, body)
    }

    private mutating func separate() {
        if !isFirst { text.bytes.append(UInt8(ascii: ",")) }
        isFirst = false
    }
}
