/// A JSON text that was checked once and may then be read in any order: the one door for JSON from outside.
///
/// RFC 8259, and stricter where readers are known to disagree: no byte order mark, no member named twice in an
/// object, no `\u0000`, no lone surrogate, no invalid UTF-8 anywhere. What is in was seen whole: a view never fails for
/// the form of the text, only for the kind of a value.
package struct JSONDocument: Sendable {
    private let tape: JSONTape

    package init(_ bytes: [UInt8], limits: JSONLimits = .standard) throws(JSONFault) {
        var parser = JSONParser(limits: limits, bytesCount: bytes.count)
        try parser.parse(bytes.span)
        if let offset = JSONDuplicates.offset(in: bytes, parser.nodes) {
            throw JSONFault(.duplicateKey, at: offset)
        }
        tape = JSONTape(bytes: bytes, nodes: parser.nodes)
    }

    /// The value that the whole text is.
    package var root: JSONValue { JSONValue(tape: tape, index: 0) }

    /// The text as it was given, white space and all.
    package var bytes: [UInt8] { tape.bytes }
}
