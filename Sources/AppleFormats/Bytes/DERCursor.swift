/// Where one element stands in the bytes: offsets only, nothing is copied.
package struct DERElement: Hashable, Sendable {
    package let tag: DERTag
    /// Offset of the tag.
    package let start: Int
    /// The content; for an indefinite length without its two closing octets.
    package let content: Range<Int>
    /// Offset after the whole element.
    package let end: Int

    /// Tag, length and content.
    package var whole: Range<Int> { start..<end }
}

/// Walks the elements of DER or BER, one level at a time, by offsets into bytes that the caller keeps.
///
/// It holds no bytes, so a walk of thousands of elements allocates nothing. Every method wants the same bytes again.
/// Source: ITU-T X.690 (2021) §§ 8.1, 10.1.
package struct DERCursor: Hashable, Sendable {
    /// Which encodings pass.
    package enum Rules: Hashable, Sendable {
        /// One encoding for each value: definite, shortest lengths.
        case der
        /// Also indefinite lengths and lengths that are longer than they need be, as in Xcode's receipts.
        case ber
    }

    /// Levels below the first. A receipt has at most 7 in its envelope and 7 in its content.
    package static let depthMax = 24

    package private(set) var position: Int
    package let end: Int
    package let rules: Rules
    private let depthLeft: Int

    /// Walks a range of the bytes.
    package init(_ range: Range<Int>, rules: Rules) {
        self.init(range, rules: rules, depthLeft: Self.depthMax)
    }

    private init(_ range: Range<Int>, rules: Rules, depthLeft: Int) {
        self.position = max(0, range.lowerBound)
        self.end = max(self.position, range.upperBound)
        self.rules = rules
        self.depthLeft = depthLeft
    }

    package var isAtEnd: Bool { position >= end }

    /// Steps over octets that the caller has read by himself.
    mutating func skip(_ count: Int) { position += count }

    /// The next element on this level, nil at its end.
    package mutating func next(in bytes: Span<UInt8>) throws(FormatFault) -> DERElement? {
        guard position < end else { return nil }
        guard end <= bytes.count else { throw .truncated(at: bytes.count) }
        let element = try element(at: position, in: bytes)
        position = element.end
        return element
    }

    /// The next element, which must have this tag.
    package mutating func next(_ tag: DERTag, in bytes: Span<UInt8>) throws(FormatFault) -> DERElement {
        guard let element = try next(in: bytes) else { throw .truncated(at: position) }
        guard element.tag == tag else { throw .unexpectedTag(element.tag.rawValue, at: element.start) }
        return element
    }

    /// The next element if it has this tag; otherwise nil, and the cursor stays.
    package mutating func nextIfPresent(_ tag: DERTag, in bytes: Span<UInt8>) throws(FormatFault) -> DERElement? {
        guard position < end, position < bytes.count, bytes[position] == tag.rawValue else { return nil }
        return try next(in: bytes)
    }

    /// A cursor over the elements inside a constructed one.
    package func inside(_ element: DERElement) throws(FormatFault) -> DERCursor {
        guard element.tag.isConstructed else { throw .unexpectedTag(element.tag.rawValue, at: element.start) }
        return try over(element.content)
    }

    /// A cursor over elements that are wrapped in a primitive one, such as the value of a receipt's attribute.
    package func over(_ content: Range<Int>) throws(FormatFault) -> DERCursor {
        guard depthLeft > 0 else { throw .tooDeep(at: content.lowerBound) }
        return DERCursor(content, rules: rules, depthLeft: depthLeft - 1)
    }

    /// Refuses whatever is left on this level.
    package func finish() throws(FormatFault) {
        guard position >= end else { throw .trailingBytes(at: position) }
    }

    // MARK: Reading one element

    private func element(at start: Int, in bytes: Span<UInt8>) throws(FormatFault) -> DERElement {
        guard end - start >= 2 else { throw .truncated(at: end) }
        let tag = DERTag(rawValue: bytes[start])
        let length = Int(bytes[start + 1])
        // Nearly all elements of a receipt are short.
        if length < 0x80, tag.number != 0x1F {
            let contentStart = start + 2
            guard length <= end - contentStart else { throw .truncated(at: end) }
            return DERElement(
                tag: tag,
                start: start,
                content: contentStart..<contentStart + length,
                end: contentStart + length
            )
        }
        return try longElement(at: start, in: bytes)
    }

    private func longElement(at start: Int, in bytes: Span<UInt8>) throws(FormatFault) -> DERElement {
        let header = try header(at: start, limit: end, in: bytes)
        guard let length = header.length else {
            let contentEnd = try endOfIndefinite(from: header.contentStart, in: bytes)
            return DERElement(
                tag: header.tag,
                start: start,
                content: header.contentStart..<contentEnd,
                end: contentEnd + 2
            )
        }
        let contentEnd = header.contentStart + length
        return DERElement(tag: header.tag, start: start, content: header.contentStart..<contentEnd, end: contentEnd)
    }

    private struct Header {
        var tag: DERTag
        var contentStart: Int
        /// Nil for an indefinite length; otherwise the content lies within the limit.
        var length: Int?
    }

    /// Reads tag and length; `limit` is at most the number of bytes.
    private func header(at start: Int, limit: Int, in bytes: Span<UInt8>) throws(FormatFault) -> Header {
        guard limit - start >= 2 else { throw .truncated(at: limit) }
        let tag = DERTag(rawValue: bytes[start])
        guard tag.number != 0x1F else { throw .unexpectedTag(tag.rawValue, at: start) }
        let first = bytes[start + 1]
        if first < 0x80 {
            let contentStart = start + 2
            guard Int(first) <= limit - contentStart else { throw .truncated(at: limit) }
            return Header(tag: tag, contentStart: contentStart, length: Int(first))
        }
        if first == 0x80 {
            guard rules == .ber, tag.isConstructed else { throw .invalidLength(at: start + 1) }
            return Header(tag: tag, contentStart: start + 2, length: nil)
        }
        return try longHeader(tag, octetCount: Int(first & 0x7F), lengthStart: start + 2, limit: limit, in: bytes)
    }

    /// At most eight length octets, and no more than are needed where the rules say so.
    private func longHeader(
        _ tag: DERTag,
        octetCount: Int,
        lengthStart: Int,
        limit: Int,
        in bytes: Span<UInt8>
    ) throws(FormatFault) -> Header {
        guard octetCount <= 8 else { throw .invalidLength(at: lengthStart - 1) }
        guard octetCount <= limit - lengthStart else { throw .truncated(at: limit) }
        var length: UInt64 = 0
        for offset in lengthStart..<lengthStart + octetCount {
            length = length << 8 | UInt64(bytes[offset])
        }
        if rules == .der {
            guard length >= 0x80, bytes[lengthStart] != 0 else { throw .invalidLength(at: lengthStart - 1) }
        }
        let contentStart = lengthStart + octetCount
        guard length <= UInt64(limit - contentStart) else { throw .truncated(at: limit) }
        return Header(tag: tag, contentStart: contentStart, length: Int(length))
    }

    /// Finds the two closing octets of an indefinite length, passing over whatever is nested in it, without recursion.
    ///
    /// - Returns: the offset of the closing octets.
    private func endOfIndefinite(from start: Int, in bytes: Span<UInt8>) throws(FormatFault) -> Int {
        var open = 1
        var offset = start
        while true {
            let header = try header(at: offset, limit: end, in: bytes)
            guard let length = header.length else {
                open += 1
                guard open <= depthLeft else { throw .tooDeep(at: offset) }
                offset = header.contentStart
                continue
            }
            if header.tag == .endOfContents {
                guard length == 0, header.contentStart == offset + 2 else { throw .invalidLength(at: offset + 1) }
                open -= 1
                if open == 0 { return offset }
            }
            offset = header.contentStart + length
        }
    }
}
