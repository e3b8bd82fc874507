/// Finds bytes in long texts.
package enum ByteSearch {
    /// Looked at together: short enough to waste little, long enough for the compiler to use wide registers.
    package static let blockSize = 64
    /// For what is left at the end.
    private static let shortBlockSize = 16

    /// Where `byte` first stands at or after `start`; nil if it does not.
    ///
    /// Ten times as fast as asking a collection, which may stop after every byte.
    package static func firstIndex(of byte: UInt8, in bytes: Span<UInt8>, from start: Int = 0) -> Int? {
        var at = max(0, start)
        while bytes.count - at >= blockSize {
            let block = bytes.extracting(at..<at &+ blockSize)
            var nearest = UInt8.max
            for index in 0..<blockSize { nearest = min(nearest, block[index] ^ byte) }
            if nearest == 0 { break }
            at &+= blockSize
        }
        while at < bytes.count {
            if bytes[at] == byte { return at }
            at &+= 1
        }
        return nil
    }

    /// Whether two texts are the same, looked at in the same way: their beginnings usually are.
    package static func areEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        let count = left.count
        guard count >= shortBlockSize else {
            for index in 0..<count where left[index] != right[index] { return false }
            return true
        }
        var at = 0
        while count - at > blockSize {
            let block = at..<at &+ blockSize
            let (one, other) = (left.extracting(block), right.extracting(block))
            var difference: UInt8 = 0
            for index in 0..<blockSize { difference |= one[index] ^ other[index] }
            if difference != 0 { return false }
            at = block.upperBound
        }
        while true {
            // The last block overlaps the one before it.
            at = min(at, count &- shortBlockSize)
            let block = at..<at &+ shortBlockSize
            let (one, other) = (left.extracting(block), right.extracting(block))
            var difference: UInt8 = 0
            for index in 0..<shortBlockSize { difference |= one[index] ^ other[index] }
            if difference != 0 { return false }
            if block.upperBound == count { return true }
            at = block.upperBound
        }
    }

    /// Whether two texts are the same in all bits that are set in `mask`.
    ///
    /// All three are equally long, and as long as one block at least; otherwise nothing is the same.
    package static func areEqual(_ left: Span<UInt8>, _ right: Span<UInt8>, where mask: Span<UInt8>) -> Bool {
        let count = mask.count
        guard count >= blockSize, left.count == count, right.count == count else { return false }
        var at = 0
        while true {
            let block = at..<at &+ blockSize
            let (one, other, kept) = (left.extracting(block), right.extracting(block), mask.extracting(block))
            var difference: UInt8 = 0
            for index in 0..<blockSize { difference |= (one[index] ^ other[index]) & kept[index] }
            if difference != 0 { return false }
            if block.upperBound == count { return true }
            // The last block overlaps the one before it.
            at = min(block.upperBound, count &- blockSize)
        }
    }

    /// Whether each octet is one of ASCII's, and none is NUL.
    package static func isASCIIWithoutNUL(_ text: Span<UInt8>) -> Bool {
        let count = text.count
        // Only NUL and what is beyond ASCII has its upper bit set, or gets it when one is taken off.
        var seen: UInt8 = 0
        guard count >= shortBlockSize else {
            for index in 0..<count { seen |= text[index] | (text[index] &- 1) }
            return seen < 0x80
        }
        var at = 0
        while true {
            at = min(at, count &- shortBlockSize)
            let block = text.extracting(at..<at &+ shortBlockSize)
            for index in 0..<shortBlockSize { seen |= block[index] | (block[index] &- 1) }
            at &+= shortBlockSize
            if at == count { return seen < 0x80 }
        }
    }
}
