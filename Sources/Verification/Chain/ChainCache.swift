import Synchronization

/// Remembers what was found out about the certificates of a message, by all their bytes, so that a chain that was
/// judged once is not judged again: one leaf signs nearly all traffic.
///
/// Both answers are kept, each in a bounded ring of its own: a flood of made-up chains cannot drive out the good ones.
final class ChainCache<Value: Sendable>: Sendable {
    /// Distinct chains in honest traffic are a handful a decade.
    static var goodMax: Int { 64 }
    /// Made-up chains are repeated by the tool that made them.
    static var badMax: Int { 256 }

    private struct State {
        var answers: [[UInt8]: Result<Value, Refusal>] = [:]
        var good = Ring()
        var bad = Ring()
    }

    private struct Ring {
        var keys: [[UInt8]] = []
        var next = 0

        /// Takes a key in; returns the one that had to leave.
        mutating func insert(_ key: [UInt8], max: Int) -> [UInt8]? {
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
    func answer(for key: [UInt8], judge: () throws(Refusal) -> Value) throws(Refusal) -> Value {
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
