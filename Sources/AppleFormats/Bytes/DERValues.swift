extension DERCursor {
    /// The content of an INTEGER as a number; nil when it needs more than 64 bits.
    package static func integer(_ content: Range<Int>, in bytes: Span<UInt8>) -> Int64? {
        guard content.lowerBound >= 0, content.upperBound <= bytes.count, !content.isEmpty else { return nil }
        var start = content.lowerBound
        // The first octet carries the sign; octets before it that only repeat the sign do not count.
        let sign = Int64(Int8(bitPattern: bytes[start])) >> 7
        while content.upperBound - start > 8 {
            guard bytes[start] == UInt8(truncatingIfNeeded: sign) else { return nil }
            start += 1
        }
        guard Int64(Int8(bitPattern: bytes[start])) >> 7 == sign else { return nil }
        var value = sign
        for offset in start..<content.upperBound {
            value = value << 8 | Int64(bytes[offset])
        }
        return value
    }

    /// Copies the octets of an OCTET STRING that came in pieces (BER) into one; more than `sizeMax` are refused.
    package func flattened(
        _ element: DERElement,
        sizeMax: Int,
        in bytes: Span<UInt8>
    ) throws(FormatFault) -> [UInt8] {
        var octets: [UInt8] = []
        var levels = [try inside(element)]
        while var level = levels.popLast() {
            guard let piece = try level.next(in: bytes) else { continue }
            levels.append(level)
            switch piece.tag {
            case .octetString:
                guard piece.content.count <= sizeMax - octets.count else { throw .tooLarge(at: piece.start) }
                for offset in piece.content {
                    octets.append(bytes[offset])
                }
            case .constructedOctetString:
                levels.append(try level.inside(piece))
            default:
                throw .unexpectedTag(piece.tag.rawValue, at: piece.start)
            }
        }
        return octets
    }
}
