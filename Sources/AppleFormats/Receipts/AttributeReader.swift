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
        if let attribute = nextShort(in: span) ?? nextLong(in: span) { return attribute }
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

    /// An attribute in its usual form, read at one glance, as most of a receipt is.
    ///
    /// A sequence of less than 128 octets: a type of one or two octets, a version of one, a value. Nil for any other
    /// form, right or wrong.
    @inline(__always)
    private mutating func nextShort(in span: Span<UInt8>) -> ReceiptAttribute? {
        let start = members.position
        guard start &+ 11 <= members.end, members.end <= span.count else { return nil }
        let head = span.extracting(start..<start &+ 11)
        let length = Int(head[1])
        guard head[0] == DERTag.sequence.rawValue, head[2] == DERTag.integer.rawValue, length < 0x80,
            length <= members.end &- start &- 2, head[4] < 0x80
        else { return nil }
        let type: Int32
        let version: UInt8
        let headLength: Int
        if head[3] == 2 {
            guard Self.areHeads(head[6], head[7], head[9]), Int(head[10]) == length &- 9 else { return nil }
            (type, version, headLength) = (Int32(head[4]) &<< 8 | Int32(head[5]), head[8], 11)
        } else {
            guard head[3] == 1, Self.areHeads(head[5], head[6], head[8]) else { return nil }
            guard Int(head[9]) == length &- 8 else { return nil }
            (type, version, headLength) = (Int32(head[4]), head[7], 10)
        }
        guard version < 0x80 else { return nil }
        members.skip(length &+ 2)
        return ReceiptAttribute(
            type: type,
            version: Int32(version),
            shortValue: start &+ headLength..<start &+ 2 &+ length
        )
    }

    /// Whether a version of one octet follows, and then a value.
    @inline(__always)
    private static func areHeads(_ version: UInt8, _ versionLength: UInt8, _ value: UInt8) -> Bool {
        version == DERTag.integer.rawValue && versionLength == 1 && value == DERTag.octetString.rawValue
    }

    /// An attribute as those that hold purchases are written, read at one glance: lengths of two octets, numbers of one.
    private mutating func nextLong(in span: Span<UInt8>) -> ReceiptAttribute? {
        let start = members.position
        guard start + 14 <= members.end, members.end <= span.count else { return nil }
        let head = span.extracting(start..<start &+ 14)
        let length = Int(head[2]) << 8 | Int(head[3])
        let valueLength = Int(head[12]) << 8 | Int(head[13])
        guard
            head[0] == DERTag.sequence.rawValue, head[1] == 0x82, length <= members.end - start - 4,
            head[4] == DERTag.integer.rawValue, head[5] == 1, head[6] < 0x80,
            head[7] == DERTag.integer.rawValue, head[8] == 1, head[9] < 0x80,
            head[10] == DERTag.octetString.rawValue, head[11] == 0x82,
            valueLength >= 0x100, valueLength == length - 10
        else { return nil }
        members.skip(length + 4)
        return ReceiptAttribute(
            type: Int32(head[6]),
            version: Int32(head[9]),
            shortValue: start + 14..<start + 4 + length
        )
    }

    /// A cursor over what is wrapped in an attribute's value.
    func wrapped(in attribute: ReceiptAttribute) throws(FormatFault) -> DERCursor {
        try members.over(attribute.value)
    }
}
