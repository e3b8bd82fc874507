import Synchronization
import TestSupport

/// The random numbers of one seed, as many share them.
final class Chance: Sendable {
    private let generator: Mutex<SeededRandom>

    init(seed: UInt64) { generator = Mutex(SeededRandom(seed: seed)) }

    func next() -> UInt64 { generator.withLock { $0.next() } }

    /// 0 or more, below the count.
    func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

    func happens(oneIn count: Int) -> Bool { below(count) == 0 }

    func pick<Value>(_ values: [Value]) -> Value { values[below(values.count)] }
}
