extension DERCursor {
    /// The content of an INTEGER as a number; nil when it needs more than 64 bits.
    package static func integer(_ content: Range<Int>, in bytes: Span<UInt8>) -> Int64? {
        guard content.upperBound <= bytes.count, let first = content.first else { return nil }
        let filler: UInt8 = bytes[first] & 0x80 == 0 ? 0x00 : 0xFF
        var start = content.lowerBound
        while content.upperBound - start > 8 {
            guard bytes[start] == filler else { return nil }
            start += 1
        }
        // Eight octets are left whose first must still carry the sign that was just taken off.
        guard (bytes[start] & 0x80 == 0) == (filler == 0) else { return nil }
        var value: Int64 = filler == 0 ? 0 : -1
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
