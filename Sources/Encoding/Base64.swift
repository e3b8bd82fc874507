/// Base64, RFC 4648, with nothing left to taste: one alphabet, one rule for padding, no white space, and the bits that
/// no byte uses must be zero, so that two different texts never stand for the same bytes.
package enum Base64 {
    /// Which characters stand for 62 and 63.
    package enum Alphabet: Sendable {
        /// `+` and `/`: receipts, certificates.
        case standard
        /// `-` and `_`: the segments of a JWS.
        case url
    }

    /// What is asked of a text whose last group is short.
    package enum Padding: Sendable {
        /// `=` up to four characters.
        case required
        /// No `=` at all.
        case forbidden
        /// Either of the two, nothing in between.
        case optional
    }

    package static func decode(
        _ text: ArraySlice<UInt8>,
        _ alphabet: Alphabet,
        padding: Padding
    ) throws(Base64Fault) -> [UInt8] {
        try decode(text.span, alphabet, padding: padding)
    }

    package static func decode(
        _ text: [UInt8],
        _ alphabet: Alphabet,
        padding: Padding
    ) throws(Base64Fault) -> [UInt8] {
        try decode(text.span, alphabet, padding: padding)
    }

    /// The bytes that `text` stands for.
    package static func decode(
        _ text: Span<UInt8>,
        _ alphabet: Alphabet,
        padding: Padding
    ) throws(Base64Fault) -> [UInt8] {
        let digitsCount = try digitsCount(text, padding)
        var result = [UInt8](repeating: 0, count: bytesCount(ofDigits: digitsCount))
        var output = result.mutableSpan
        try decode(text, digitsCount, alphabet, into: &output)
        return result
    }

    /// The bytes that `text` stands for, where there is room for them: for texts whose length is known, such as
    /// signatures.
    ///
    /// - Returns: whether they are as many as `output` has; it is not written to otherwise.
    package static func decode(
        _ text: Span<UInt8>,
        _ alphabet: Alphabet,
        padding: Padding,
        into output: inout MutableSpan<UInt8>
    ) throws(Base64Fault) -> Bool {
        let digitsCount = try digitsCount(text, padding)
        guard bytesCount(ofDigits: digitsCount) == output.count else { return false }
        try decode(text, digitsCount, alphabet, into: &output)
        return true
    }

    private static func decode(
        _ text: Span<UInt8>,
        _ digitsCount: Int,
        _ alphabet: Alphabet,
        into output: inout MutableSpan<UInt8>
    ) throws(Base64Fault) {
        let table = alphabet == .standard ? Base64Table.standard : Base64Table.url
        let groups = digitsCount / 4
        let tail = text.extracting(groups * 4..<digitsCount)
        let paired = decodePairs(of: text.extracting(0..<groups * 4), table, into: &output)
        var seen = paired.seen
        for group in paired.groups..<groups {
            let bits = table.bits(text.extracting(group &* 4..<group &* 4 &+ 4))
            seen |= bits
            output[group &* 3] = UInt8(truncatingIfNeeded: bits &>> 16)
            output[group &* 3 &+ 1] = UInt8(truncatingIfNeeded: bits &>> 8)
            output[group &* 3 &+ 2] = UInt8(truncatingIfNeeded: bits)
        }
        if tail.count > 1 {
            let third = tail.count == 3 ? table.value(of: tail[2]) : 0
            let bits = table.value(of: tail[0]) << 18 | table.value(of: tail[1]) << 12 | third << 6
            seen |= bits
            output[groups * 3] = UInt8(truncatingIfNeeded: bits >> 16)
            if tail.count == 3 { output[groups * 3 + 1] = UInt8(truncatingIfNeeded: bits >> 8) }
            let strayBits = bits & (tail.count == 3 ? 0xFF : 0xFFFF)
            if strayBits != 0, seen < 1 << 24 { throw Base64Fault(.strayBits, at: digitsCount - 1) }
        }
        // A character outside the alphabet sets bits that no group of 24 can have.
        if seen >= 1 << 24 { throw Base64Fault(.invalidCharacter, at: firstInvalid(text, table)) }
    }

    /// Two groups at a time, as long as there are two.
    ///
    /// - Returns: how many groups were decoded, and all bits that they had.
    private static func decodePairs(
        of text: Span<UInt8>,
        _ table: Base64Table,
        into output: inout MutableSpan<UInt8>
    ) -> (groups: Int, seen: UInt32) {
        let values = table.values.span
        // Said here, it need not be asked for every character.
        precondition(values.count == 256, "a value for each byte")
        var seen: UInt32 = 0
        var (from, to) = (0, 0)
        while text.count &- from >= 8, output.count &- to >= 6 {
            let digits = text.extracting(from..<from &+ 8)
            let first =
                values[Int(digits[0])] &<< 18 | values[Int(digits[1])] &<< 12
                | values[Int(digits[2])] &<< 6 | values[Int(digits[3])]
            let second =
                values[Int(digits[4])] &<< 18 | values[Int(digits[5])] &<< 12
                | values[Int(digits[6])] &<< 6 | values[Int(digits[7])]
            seen |= first | second
            output[to] = UInt8(truncatingIfNeeded: first &>> 16)
            output[to &+ 1] = UInt8(truncatingIfNeeded: first &>> 8)
            output[to &+ 2] = UInt8(truncatingIfNeeded: first)
            output[to &+ 3] = UInt8(truncatingIfNeeded: second &>> 16)
            output[to &+ 4] = UInt8(truncatingIfNeeded: second &>> 8)
            output[to &+ 5] = UInt8(truncatingIfNeeded: second)
            from &+= 8
            to &+= 6
        }
        return (from / 4, seen)
    }

    /// The characters that stand for `bytes`; if `isPadded`, the last group is filled up to four with `=`.
    package static func encode(_ bytes: Span<UInt8>, _ alphabet: Alphabet, isPadded: Bool) -> [UInt8] {
        let table = alphabet == .standard ? Base64Table.standard : Base64Table.url
        var result: [UInt8] = []
        result.reserveCapacity((bytes.count + 2) / 3 * 4)
        var from = 0
        while from < bytes.count {
            let left = bytes.count - from
            let second = left > 1 ? UInt32(bytes[from + 1]) : 0
            let third = left > 2 ? UInt32(bytes[from + 2]) : 0
            let group = UInt32(bytes[from]) << 16 | second << 8 | third
            result.append(table.character(group >> 18))
            result.append(table.character(group >> 12))
            if left > 1 { result.append(table.character(group >> 6)) }
            if left > 2 { result.append(table.character(group)) }
            from += 3
        }
        while isPadded, result.count % 4 != 0 { result.append(UInt8(ascii: "=")) }
        return result
    }

    package static func encode(_ bytes: [UInt8], _ alphabet: Alphabet, isPadded: Bool) -> [UInt8] {
        encode(bytes.span, alphabet, isPadded: isPadded)
    }

    /// How many characters stand for bits, once the padding was found to be as asked.
    private static func digitsCount(_ text: Span<UInt8>, _ padding: Padding) throws(Base64Fault) -> Int {
        var count = text.count
        while count > 0, text.count - count < 2, text[count - 1] == UInt8(ascii: "=") { count -= 1 }
        let isPadded = count < text.count
        if count % 4 == 1 { throw Base64Fault(.length, at: text.count) }
        if isPadded, padding == .forbidden || text.count % 4 != 0 { throw Base64Fault(.padding, at: count) }
        if !isPadded, padding == .required, count % 4 != 0 { throw Base64Fault(.padding, at: count) }
        return count
    }

    /// How many bytes so many characters stand for; a last group of one has been refused.
    private static func bytesCount(ofDigits count: Int) -> Int { count / 4 * 3 + max(0, count % 4 - 1) }

    private static func firstInvalid(_ text: Span<UInt8>, _ table: Base64Table) -> Int {
        text.indices.first { table.value(of: text[$0]) >= 64 } ?? text.count
    }
}
