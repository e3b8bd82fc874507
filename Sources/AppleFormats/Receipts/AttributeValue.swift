/// Reads attributes and what is wrapped in their values, by offsets into the receipt's content.
struct AttributeReader {
    /// The members of a SET OF ReceiptAttribute.
    private var members: DERCursor

    /// Starts before the SET, which must be all that there is.
    init(_ cursor: DERCursor, in span: Span<UInt8>) throws(FormatFault) {
        var cursor = cursor
        let set = try cursor.next(.set, in: span)
        try cursor.finish()
        members = try cursor.inside(set)
    }

    /// The next attribute, nil after the last.
    mutating func next(in span: Span<UInt8>) throws(FormatFault) -> ReceiptAttribute? {
        guard !members.isAtEnd else { return nil }
        if let attribute = nextShort(in: span) { return attribute }
        let sequence = try members.next(.sequence, in: span)
        var fields = try members.inside(sequence)
        let type = try fields.next(.integer, in: span)
        let version = try fields.next(.integer, in: span)
        let value = try fields.next(.octetString, in: span)
        try fields.finish()
        guard
            let typeNumber = DERCursor.integer(type.content, in: span),
            let versionNumber = DERCursor.integer(version.content, in: span),
            let attribute = ReceiptAttribute(type: typeNumber, version: versionNumber, value: value.content)
        else { throw .invalidValue(field: "attribute_type") }
        return attribute
    }

    /// An attribute in its usual form, read at one glance: half of the time of decoding goes into these.
    ///
    /// A sequence of less than 128 octets: a type of one or two octets, a version of one, a value. Nil for any other
    /// form, right or wrong.
    @inline(__always)
    private mutating func nextShort(in span: Span<UInt8>) -> ReceiptAttribute? {
        let start = members.position
        guard start + 11 <= members.end, members.end <= span.count else { return nil }
        let head = span.extracting(start..<start &+ 11)
        let length = Int(head[1])
        let typeLength = Int(head[3])
        guard typeLength == 1 || typeLength == 2 else { return nil }
        let headLength = 9 &+ typeLength
        let version = 4 &+ typeLength
        guard
            head[0] == DERTag.sequence.rawValue, length < 0x80, length <= members.end - start - 2,
            head[2] == DERTag.integer.rawValue, head[4] < 0x80,
            head[version] == DERTag.integer.rawValue, head[version &+ 1] == 1, head[version &+ 2] < 0x80,
            head[version &+ 3] == DERTag.octetString.rawValue, Int(head[version &+ 4]) == length - headLength + 2
        else { return nil }
        members.skip(length + 2)
        return ReceiptAttribute(
            type: typeLength == 1 ? Int32(head[4]) : Int32(head[4]) << 8 | Int32(head[5]),
            version: Int32(head[version &+ 2]),
            shortValue: start + headLength..<start + 2 + length
        )
    }

    /// A cursor over what is wrapped in an attribute's value.
    func wrapped(in attribute: ReceiptAttribute) throws(FormatFault) -> DERCursor {
        try members.over(attribute.value)
    }
}

extension ReceiptAttribute {
    /// Tag and content of the one element in the value.
    @inline(__always)
    private func element(
        _ field: StaticString,
        in span: Span<UInt8>
    ) throws(FormatFault) -> (tag: DERTag, content: Range<Int>) {
        let value = value
        if value.count >= 2, value.upperBound <= span.count {
            let tag = DERTag(rawValue: span[value.lowerBound])
            let length = Int(span[value.lowerBound + 1])
            // Shorter than 128 octets, as nearly all are.
            if length == value.count - 2, length < 0x80, tag.number != 0x1F {
                return (tag, value.lowerBound + 2..<value.upperBound)
            }
        }
        return try longElement(field, in: span)
    }

    private func longElement(
        _ field: StaticString,
        in span: Span<UInt8>
    ) throws(FormatFault) -> (tag: DERTag, content: Range<Int>) {
        var cursor = DERCursor(value, rules: .ber)
        guard let element = try cursor.next(in: span) else { throw .invalidValue(field: field.description) }
        try cursor.finish()
        return (element.tag, element.content)
    }

    /// The octets of the text in the value; nil for the empty text, Apple's way to say "none".
    @inline(__always)
    private func letters(_ field: StaticString, in span: Span<UInt8>) throws(FormatFault) -> Range<Int>? {
        let (tag, content) = try element(field, in: span)
        switch tag {
        case .utf8String, .ia5String, .printableString: return content.isEmpty ? nil : content
        default: throw .wrongType(field: field.description)
        }
    }

    /// Where the text in the value stands, whichever string type holds it.
    func checkedText(_ field: StaticString, in span: Span<UInt8>) throws(FormatFault) -> ReceiptText? {
        guard let letters = try letters(field, in: span) else { return nil }
        guard Self.isText(span.extracting(letters)) else { throw .invalidValue(field: field.description) }
        return ReceiptText(letters)
    }

    /// The text in the value, whichever string type holds it.
    func text(_ field: StaticString, in span: Span<UInt8>) throws(FormatFault) -> String? {
        guard let place = try checkedText(field, in: span) else { return nil }
        guard let letters = try? UTF8Span(validating: span.extracting(place.range)) else { return nil }
        return String(copying: letters)
    }

    /// UTF-8 without NUL, which no database text can hold.
    private static func isText(_ letters: Span<UInt8>) -> Bool {
        var isPlain = true
        // No early end: the compiler looks at many octets at once.
        for index in letters.indices { isPlain = isPlain && letters[index] &- 1 < 0x7F }
        if isPlain { return true }
        for index in letters.indices where letters[index] == 0 { return false }
        return (try? UTF8Span(validating: letters)) != nil
    }

    /// The moment in the value, in milliseconds since 1970.
    func moment(_ field: StaticString, in span: Span<UInt8>) throws(FormatFault) -> Int64? {
        guard let letters = try letters(field, in: span) else { return nil }
        guard let milliseconds = AppleDate.milliseconds(span.extracting(letters)) else {
            throw .invalidValue(field: field.description)
        }
        return milliseconds
    }

    /// The number in the value; refused when it needs more than 64 bits.
    func number(_ field: StaticString, in span: Span<UInt8>) throws(FormatFault) -> Int64 {
        let (tag, content) = try element(field, in: span)
        guard tag == .integer else { throw .wrongType(field: field.description) }
        if content.count == 1 { return Int64(Int8(bitPattern: span[content.lowerBound])) }
        guard let value = DERCursor.integer(content, in: span) else { throw .invalidValue(field: field.description) }
        return value
    }

    /// 0 or 1 in the value; anything else is refused.
    func flag(_ field: StaticString, in span: Span<UInt8>) throws(FormatFault) -> Bool {
        switch try number(field, in: span) {
        case 0: false
        case 1: true
        default: throw .invalidValue(field: field.description)
        }
    }
}
