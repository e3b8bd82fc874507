import Encoding

/// The one element in a named attribute's value, and the field that it is for.
struct ReceiptValue {
    /// As verifyReceipt calls it; for errors.
    let field: StaticString
    let tag: DERTag
    /// The element's own octets, by their distance from the content's beginning.
    let content: Range<Int>

    /// The octets of the text; nil for the empty text, Apple's way to say "none".
    @inline(__always)
    private var letters: Range<Int>? {
        get throws(FormatFault) {
            switch tag {
            case .utf8String, .ia5String, .printableString: content.isEmpty ? nil : content
            default: throw .wrongType(field: field.description)
            }
        }
    }

    /// Where the text stands, whichever string type holds it.
    func place(in span: Span<UInt8>) throws(FormatFault) -> ReceiptText? {
        guard let letters = try letters else { return nil }
        guard Self.isText(span.extracting(letters)) else { throw .invalidValue(field: field.description) }
        return ReceiptText(letters)
    }

    /// The text, whichever string type holds it.
    func text(in span: Span<UInt8>) throws(FormatFault) -> String? {
        guard let place = try place(in: span) else { return nil }
        guard let letters = try? UTF8Span(validating: span.extracting(place.range)) else { return nil }
        return String(copying: letters)
    }

    /// UTF-8 without NUL, which no database text can hold.
    private static func isText(_ letters: Span<UInt8>) -> Bool {
        if ByteSearch.isASCIIWithoutNUL(letters) { return true }
        for index in letters.indices where letters[index] == 0 { return false }
        return (try? UTF8Span(validating: letters)) != nil
    }

    /// The moment, in milliseconds since 1970.
    func moment(in span: Span<UInt8>) throws(FormatFault) -> Int64? {
        guard let letters = try letters else { return nil }
        guard let milliseconds = AppleDate.milliseconds(span.extracting(letters)) else {
            throw .invalidValue(field: field.description)
        }
        return milliseconds
    }

    /// The number; refused when it needs more than 64 bits.
    func number(in span: Span<UInt8>) throws(FormatFault) -> Int64 {
        guard tag == .integer else { throw .wrongType(field: field.description) }
        if content.count == 1 { return Int64(Int8(bitPattern: span[content.lowerBound])) }
        guard let value = DERCursor.integer(content, in: span) else { throw .invalidValue(field: field.description) }
        return value
    }

    /// 0 or 1; anything else is refused.
    func flag(in span: Span<UInt8>) throws(FormatFault) -> Bool {
        switch try number(in: span) {
        case 0: false
        case 1: true
        default: throw .invalidValue(field: field.description)
        }
    }
}

extension ReceiptAttribute {
    /// The one element in the value, for a field of that name.
    @inline(__always)
    func element(_ field: StaticString, in span: Span<UInt8>) throws(FormatFault) -> ReceiptValue {
        let value = value
        if value.count >= 2, value.upperBound <= span.count {
            let tag = DERTag(rawValue: span[value.lowerBound])
            let length = Int(span[value.lowerBound + 1])
            // Shorter than 128 octets, as nearly all are.
            if length == value.count - 2, length < 0x80, tag.number != 0x1F {
                return ReceiptValue(field: field, tag: tag, content: value.lowerBound + 2..<value.upperBound)
            }
        }
        return try longElement(field, in: span)
    }

    private func longElement(_ field: StaticString, in span: Span<UInt8>) throws(FormatFault) -> ReceiptValue {
        var cursor = DERCursor(value, rules: .ber)
        guard let element = try cursor.next(in: span) else { throw .invalidValue(field: field.description) }
        try cursor.finish()
        return ReceiptValue(field: field, tag: element.tag, content: element.content)
    }

    /// The text in the value.
    func text(_ field: StaticString, in span: Span<UInt8>) throws(FormatFault) -> String? {
        try element(field, in: span).text(in: span)
    }

    /// The moment in the value, in milliseconds since 1970.
    func moment(_ field: StaticString, in span: Span<UInt8>) throws(FormatFault) -> Int64? {
        try element(field, in: span).moment(in: span)
    }

    /// The number in the value.
    func number(_ field: StaticString, in span: Span<UInt8>) throws(FormatFault) -> Int64 {
        try element(field, in: span).number(in: span)
    }
}
