import Encoding
import TestSupport
import Testing

@Suite("Looking through bytes")
struct ByteSearchTests {
    /// Around every size of a block.
    private static let counts = Array(0...70) + Array(126...131) + [191, 192, 193, 255, 256, 257, 400, 511, 512, 513]

    @Test("finds the first one, wherever it stands and from wherever it is looked for", arguments: counts)
    func firstIndex(count: Int) {
        let bytes = [UInt8](repeating: 7, count: count)
        #expect(firstIndex(of: 8, in: bytes) == nil)
        for place in 0..<count {
            var changed = bytes
            changed[place] = 8
            changed[count - 1] = 8
            #expect(firstIndex(of: 8, in: changed) == place)
            #expect(firstIndex(of: 8, in: changed, from: place) == place)
            let next = place == count - 1 ? nil : count - 1
            #expect(firstIndex(of: 8, in: changed, from: place + 1) == next)
        }
    }

    @Test("sees each difference", arguments: counts)
    func areEqual(count: Int) {
        var random = SeededRandom(seed: UInt64(count))
        let bytes = random.bytes(count)
        #expect(areEqual(bytes, Array(bytes)))
        #expect(!areEqual(bytes, (bytes + [0])))
        for place in 0..<count {
            var changed = bytes
            changed[place] ^= 1 << UInt8(place % 8)
            #expect(!areEqual(bytes, changed))
        }
    }

    @Test("sees each difference that is asked for, and no other", arguments: counts.filter { $0 >= 64 })
    func areEqualWhere(count: Int) {
        var random = SeededRandom(seed: UInt64(count))
        let bytes = random.bytes(count)
        let mask = random.bytes(count)
        for place in 0..<count {
            for bit in 0..<8 {
                var changed = bytes
                changed[place] ^= 1 << UInt8(bit)
                let isSeen = mask[place] & 1 << UInt8(bit) != 0
                #expect(areEqual(bytes, changed, where: mask) == !isSeen)
            }
        }
    }

    @Test("calls nothing equal that is shorter than a block, or not as long as the mask")
    func areEqualWhereRefuses() {
        let (short, long) = ([UInt8](repeating: 1, count: 63), [UInt8](repeating: 1, count: 64))
        #expect(!areEqual(short, short, where: short))
        #expect(areEqual(long, long, where: long))
        #expect(!areEqual(long, short, where: long))
        #expect(!areEqual(short, long, where: long))
        #expect(!areEqual(long, long, where: short))
    }

    @Test("knows ASCII without NUL", arguments: counts)
    func plainText(count: Int) {
        let plain = (0..<count).map { UInt8($0 % 127 + 1) }
        #expect(isASCIIWithoutNUL(plain))
        for place in 0..<count {
            for byte in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
                var changed = plain
                changed[place] = byte
                #expect(isASCIIWithoutNUL(changed) == (1...0x7F).contains(byte))
            }
        }
    }

    // What is expected may not be a span.

    private func firstIndex(of byte: UInt8, in bytes: [UInt8], from start: Int = 0) -> Int? {
        ByteSearch.firstIndex(of: byte, in: bytes.span, from: start)
    }

    private func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        ByteSearch.areEqual(left.span, right.span)
    }

    private func areEqual(_ left: [UInt8], _ right: [UInt8], where mask: [UInt8]) -> Bool {
        ByteSearch.areEqual(left.span, right.span, where: mask.span)
    }

    private func isASCIIWithoutNUL(_ text: [UInt8]) -> Bool {
        ByteSearch.isASCIIWithoutNUL(text.span)
    }
}
