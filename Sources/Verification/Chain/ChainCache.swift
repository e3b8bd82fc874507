import Synchronization

/// All the bytes that an answer about certificates is decided from.
struct ChainKey: Hashable, Sendable {
    fileprivate let bytes: [UInt8]

    /// Each part goes in with its length, so that no two lists of parts make one key.
    init(_ parts: [ArraySlice<UInt8>]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(parts.reduce(0) { $0 + $1.count + 8 })
        for part in parts {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: UInt64(part.count) >> UInt64(shift)))
            }
            bytes.append(contentsOf: part)
        }
        self.bytes = bytes
    }
}

/// Remembers what was found out about the certificates of a message, by all their bytes, so that a chain that was
/// judged once is not judged again: one leaf signs nearly all traffic.
///
/// Both answers are kept, each in a bounded ring of its own: a flood of made-up chains cannot drive out the good ones.
/// Only an answer that nothing but the key decides may be asked for.
final class ChainCache<Value: Sendable>: Sendable {
    /// Distinct chains in honest traffic are a handful a decade.
    static var goodMax: Int { 64 }
    /// Made-up chains are repeated by the tool that made them.
    static var badMax: Int { 256 }

    /// A genuine key has 6 kB. A longer one is judged each time: what a sender chooses must not fill the memory.
    static var keyBytesMax: Int { 16 * 1_024 }

    private struct State {
        var answers: [ChainKey: Result<Value, Refusal>] = [:]
        var good = Ring()
        var bad = Ring()
    }

    private struct Ring {
        var keys: [ChainKey] = []
        var next = 0

        /// Takes a key in; returns the one that had to leave.
        mutating func insert(_ key: ChainKey, max: Int) -> ChainKey? {
            guard keys.count == max else {
                keys.append(key)
                return nil
            }
            let leaving = keys[next]
            keys[next] = key
            next = (next + 1) % max
            return leaving
        }
    }

    private let state = Mutex(State())

    /// The answer for `key`, from memory or by `judge`, which runs outside the lock.
    func answer(for key: ChainKey, judge: () throws(Refusal) -> Value) throws(Refusal) -> Value {
        guard key.bytes.count <= Self.keyBytesMax else { return try judge() }
        if let known = state.withLock({ $0.answers[key] }) { return try known.get() }
        let answer: Result<Value, Refusal>
        do throws(Refusal) {
            answer = .success(try judge())
        } catch {
            answer = .failure(error)
        }
        state.withLock { state in
            guard state.answers.updateValue(answer, forKey: key) == nil else { return }
            let leaving =
                switch answer {
                case .success: state.good.insert(key, max: Self.goodMax)
                case .failure: state.bad.insert(key, max: Self.badMax)
                }
            if let leaving { state.answers[leaving] = nil }
        }
        return try answer.get()
    }
}
