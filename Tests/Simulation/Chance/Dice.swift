import Simulator
import Synchronization

/// The random numbers of one seed, as many share them: everything is on one thread, so that the order in which they are
/// asked for is the seed's, too.
package final class Dice: Sendable {
    private let generator: Mutex<SplitMix64>

    package init(seed: UInt64) {
        generator = Mutex(SplitMix64(seed: seed))
    }

    package func next() -> UInt64 { generator.withLock { $0.next() } }

    /// 0 or more, below the count.
    package func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

    package func happens(oneIn count: Int) -> Bool { below(count) == 0 }

    package func pick<Value>(_ values: [Value]) -> Value { values[below(values.count)] }
}
