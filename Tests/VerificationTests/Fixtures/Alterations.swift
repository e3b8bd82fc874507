import TestSupport

/// One bit of a proof turned over.
struct Alteration: CustomStringConvertible {
    let position: Int
    let bit: Int

    var description: String { "bit \(bit) of byte \(position)" }

    func applied(to bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        bytes[position] ^= 1 << UInt8(bit)
        return bytes
    }

    /// Every bit of every byte in the range.
    static func all(in range: Range<Int>) -> [Alteration] {
        range.flatMap { position in (0..<8).map { Alteration(position: position, bit: $0) } }
    }

    /// One bit, chosen by the seed, of every byte in the range; where there are more than `countMax`, of as many
    /// bytes anywhere in it.
    static func all(in range: Range<Int>, seed: UInt64, countMax: Int) -> [Alteration] {
        var random = SeededRandom(seed: seed)
        guard range.count > countMax else {
            return range.map { Alteration(position: $0, bit: Int.random(in: 0..<8, using: &random)) }
        }
        return (0..<countMax).map { _ in
            Alteration(position: Int.random(in: range, using: &random), bit: Int.random(in: 0..<8, using: &random))
        }
    }
}
