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
        let sequence = try members.next(.sequence, in: span)
        if let attribute = Self.short(sequence.content, in: span) { return attribute }
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

    /// A purchase's attribute in its usual form, read at one glance: half of the time of decoding goes into these.
    ///
    /// A type of two octets, a version of one, a value of less than 128. Nil for any other form, right or wrong.
    private static func short(_ content: Range<Int>, in span: Span<UInt8>) -> ReceiptAttribute? {
        let start = content.lowerBound
        let valueStart = start + 9
        guard valueStart <= content.upperBound, content.upperBound <= span.count else { return nil }
        guard
            span[start] == DERTag.integer.rawValue, span[start + 1] == 2, span[start + 2] < 0x80,
            span[start + 4] == DERTag.integer.rawValue, span[start + 5] == 1, span[start + 6] < 0x80,
            span[start + 7] == DERTag.octetString.rawValue,
            Int(span[start + 8]) == content.upperBound - valueStart, span[start + 8] < 0x80
        else { return nil }
        return ReceiptAttribute(
            type: Int64(span[start + 2]) << 8 | Int64(span[start + 3]),
            version: Int64(span[start + 6]),
            value: valueStart..<content.upperBound
        )
    }

    /// A cursor over what is wrapped in an attribute's value.
    func wrapped(in attribute: ReceiptAttribute) throws(FormatFault) -> DERCursor {
        try members.over(attribute.value)
    }
}

extension ReceiptAttribute {
    /// The one element in the value.
    private func element(_ field: String, in span: Span<UInt8>) throws(FormatFault) -> DERElement {
        var cursor = DERCursor(value, rules: .ber)
        guard let element = try cursor.next(in: span) else { throw .invalidValue(field: field) }
        try cursor.finish()
        return element
    }

    /// The octets of the text in the value; nil for the empty text, Apple's way to say "none".
    private func letters(_ field: String, in span: Span<UInt8>) throws(FormatFault) -> Range<Int>? {
        let element = try element(field, in: span)
        switch element.tag {
        case .utf8String, .ia5String, .printableString: return element.content.isEmpty ? nil : element.content
        default: throw .wrongType(field: field)
        }
    }

    /// The text in the value, whichever string type holds it.
    func text(_ field: String, in span: Span<UInt8>) throws(FormatFault) -> String? {
        guard let letters = try letters(field, in: span) else { return nil }
        for offset in letters {
            guard span[offset] != 0 else { throw .invalidValue(field: field) }
        }
        do {
            return String(copying: try UTF8Span(validating: span.extracting(letters)))
        } catch {
            throw .invalidValue(field: field)
        }
    }

    /// The moment in the value, in milliseconds since 1970.
    func moment(_ field: String, in span: Span<UInt8>) throws(FormatFault) -> Int64? {
        guard let letters = try letters(field, in: span) else { return nil }
        guard let milliseconds = AppleDate.milliseconds(span.extracting(letters)) else {
            throw .invalidValue(field: field)
        }
        return milliseconds
    }

    /// The number in the value; refused when it needs more than 64 bits.
    func number(_ field: String, in span: Span<UInt8>) throws(FormatFault) -> Int64 {
        let element = try element(field, in: span)
        guard element.tag == .integer else { throw .wrongType(field: field) }
        guard let value = DERCursor.integer(element.content, in: span) else { throw .invalidValue(field: field) }
        return value
    }

    /// 0 or 1 in the value; anything else is refused.
    func flag(_ field: String, in span: Span<UInt8>) throws(FormatFault) -> Bool {
        switch try number(field, in: span) {
        case 0: false
        case 1: true
        default: throw .invalidValue(field: field)
        }
    }
}
