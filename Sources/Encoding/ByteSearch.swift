/// Finds bytes in long texts.
package enum ByteSearch {
    /// Looked at together: short enough to waste little, long enough for the compiler to use wide registers.
    package static let blockSize = 64
    /// Of texts that are usually as long as certificates.
    private static let longBlockSize = 256
    /// Of short texts.
    private static let shortBlockSize = 16
    /// Of names.
    private static let wordSize = 8

    /// Where `byte` first stands at or after `start`; nil if it does not.
    ///
    /// Ten times as fast as asking a collection, which may stop after every byte.
    package static func firstIndex(of byte: UInt8, in bytes: Span<UInt8>, from start: Int = 0) -> Int? {
        var at = skip(over: longBlockSize, without: byte, in: bytes, from: max(0, start))
        at = skip(over: blockSize, without: byte, in: bytes, from: at)
        at = skip(over: shortBlockSize, without: byte, in: bytes, from: at)
        while at < bytes.count {
            if bytes[at] == byte { return at }
            at &+= 1
        }
        return nil
    }

    /// Where the first block of that size begins that holds `byte`, or fewer bytes than a block are left.
    @inline(__always)
    private static func skip(over size: Int, without byte: UInt8, in bytes: Span<UInt8>, from start: Int) -> Int {
        var at = start
        while bytes.count - at >= size {
            let block = bytes.extracting(at..<at &+ size)
            var nearest = UInt8.max
            for index in 0..<size { nearest = min(nearest, block[index] ^ byte) }
            if nearest == 0 { break }
            at &+= size
        }
        return at
    }

    /// Whether two texts are the same, looked at in the same way: their beginnings usually are.
    package static func areEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        if left.count >= longBlockSize { return areEqual(left, right, inBlocksOf: longBlockSize) }
        if left.count >= blockSize { return areEqual(left, right, inBlocksOf: blockSize) }
        if left.count >= shortBlockSize { return areEqual(left, right, inBlocksOf: shortBlockSize) }
        if left.count >= wordSize { return areEqual(left, right, inBlocksOf: wordSize) }
        for index in left.indices where left[index] != right[index] { return false }
        return true
    }

    /// Whether two texts are the same in all bits that are set in `mask`.
    ///
    /// All three are equally long, and as long as one block at least; otherwise nothing is the same.
    package static func areEqual(_ left: Span<UInt8>, _ right: Span<UInt8>, where mask: Span<UInt8>) -> Bool {
        let count = mask.count
        guard count >= blockSize, left.count == count, right.count == count else { return false }
        return count >= longBlockSize
            ? areEqual(left, right, where: mask, inBlocksOf: longBlockSize)
            : areEqual(left, right, where: mask, inBlocksOf: blockSize)
    }

    /// Whether each octet is one of ASCII's, and none is NUL.
    package static func isASCIIWithoutNUL(_ text: Span<UInt8>) -> Bool {
        // Only NUL and what is beyond ASCII has its upper bit set, or gets it when one is taken off.
        guard text.count >= shortBlockSize else { return union(text.count) { text[$0] | (text[$0] &- 1) } < 0x80 }
        return allBlocks(of: shortBlockSize, to: text.count) { block in
            let octets = text.extracting(block)
            return union(shortBlockSize) { octets[$0] | (octets[$0] &- 1) } < 0x80
        }
    }

    @inline(__always)
    private static func areEqual(_ left: Span<UInt8>, _ right: Span<UInt8>, inBlocksOf size: Int) -> Bool {
        allBlocks(of: size, to: left.count) { block in
            let (one, other) = (left.extracting(block), right.extracting(block))
            return union(size) { one[$0] ^ other[$0] } == 0
        }
    }

    @inline(__always)
    private static func areEqual(
        _ left: Span<UInt8>,
        _ right: Span<UInt8>,
        where mask: Span<UInt8>,
        inBlocksOf size: Int
    ) -> Bool {
        allBlocks(of: size, to: mask.count) { block in
            let (one, other, kept) = (left.extracting(block), right.extracting(block), mask.extracting(block))
            return union(size) { (one[$0] ^ other[$0]) & kept[$0] } == 0
        }
    }

    /// Whether a rule holds for all blocks, one after the other. The last one overlaps the one before it; there are
    /// octets for one at least.
    @inline(__always)
    private static func allBlocks(of size: Int, to count: Int, _ holds: (Range<Int>) -> Bool) -> Bool {
        var at = 0
        while true {
            let block = at..<at &+ size
            guard holds(block) else { return false }
            if block.upperBound == count { return true }
            at = min(block.upperBound, count &- size)
        }
    }

    /// All bits that are set in one of so many octets at least.
    @inline(__always)
    private static func union(_ count: Int, _ octet: (Int) -> UInt8) -> UInt8 {
        var bits: UInt8 = 0
        for index in 0..<count { bits |= octet(index) }
        return bits
    }
}
