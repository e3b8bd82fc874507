import Simulator

/// The simulator's random numbers, and bytes of them: the same seed, the same run.
package struct SeededRandom: RandomNumberGenerator, Sendable {
    private var generator: SplitMix64

    package init(seed: UInt64) {
        generator = SplitMix64(seed: seed)
    }

    package mutating func next() -> UInt64 { generator.next() }

    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }
}
