import Crypto
import Encoding
import Synchronization

/// All the bytes that an answer about certificates is decided from, as one key.
enum ChainKey {
    /// Each part goes in with its length, so that no two lists of parts make one key.
    static func of(_ parts: [ArraySlice<UInt8>]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(parts.reduce(0) { $0 + $1.count + 8 })
        for part in parts {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: UInt64(part.count) >> UInt64(shift)))
            }
            bytes.append(contentsOf: part)
        }
        return bytes
    }

    /// Whether a key was made of these parts.
    static func isMade(_ key: [UInt8], of parts: [ArraySlice<UInt8>]) -> Bool {
        let key = key.span
        var start = 0
        for part in parts {
            guard key.count - start - 8 >= part.count else { return false }
            var count: UInt64 = 0
            for place in start..<start + 8 { count = count << 8 | UInt64(key[place]) }
            let end = start + 8 + part.count
            guard count == UInt64(part.count), ByteSearch.areEqual(key.extracting(start + 8..<end), part.span) else {
                return false
            }
            start = end
        }
        return start == key.count
    }
}

/// Remembers what was found out about the certificates of a message, by all their bytes, so that a chain that was
/// judged once is not judged again: one leaf signs nearly all traffic.
///
/// Both answers are kept, each in a bounded ring of its own: a flood of made-up chains cannot drive out the good ones.
/// A certificate that only vouches for itself stands among the bad, though nothing is wrong with it: anybody can make
/// as many as he likes. What is kept is found by the SHA-256 of those bytes, and the last good one by comparing the bytes themselves, which
/// is forty times as fast. Only an answer that nothing but the key decides may be asked for.
final class ChainCache<Value: Sendable>: Sendable {
    /// Distinct chains in honest traffic are a handful a decade.
    static var goodMax: Int { 64 }
    /// Made-up chains are repeated by the tool that made them.
    static var badMax: Int { 256 }

    /// A genuine key has 6 kB. A longer one is judged each time: what a sender chooses must not fill the memory.
    static var keyBytesMax: Int { 16 * 1_024 }

    private struct State {
        var last: (key: [UInt8], value: Value)?
        /// By 32 bytes of SHA-256.
        var answers: [[UInt8]: Result<Value, Refusal>] = [:]
        var good = Ring()
        var bad = Ring()

        mutating func keep(_ answer: Result<Value, Refusal>, isGood: Bool, by digest: [UInt8]) {
            guard answers.updateValue(answer, forKey: digest) == nil else { return }
            let leaving = isGood ? good.insert(digest, max: goodMax) : bad.insert(digest, max: badMax)
            if let leaving { answers[leaving] = nil }
        }
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
    private let isVouchedFor: @Sendable (Value) -> Bool

    /// - Parameter isVouchedFor: whether somebody whom the operator trusts stands behind an answer.
    init(isVouchedFor: @escaping @Sendable (Value) -> Bool) {
        self.isVouchedFor = isVouchedFor
    }

    /// The answer for the key of these parts. The key is not made where they are those of the last good answer.
    func answer(for parts: [ArraySlice<UInt8>], judge: () throws(Refusal) -> Value) throws(Refusal) -> Value {
        if let last = state.withLock({ $0.last }), ChainKey.isMade(last.key, of: parts) { return last.value }
        return try answer(for: ChainKey.of(parts)[...], judge: judge)
    }

    /// The answer for `key`, from memory or by `judge`, which runs outside the lock.
    func answer(for key: ArraySlice<UInt8>, judge: () throws(Refusal) -> Value) throws(Refusal) -> Value {
        guard key.count <= Self.keyBytesMax else { return try judge() }
        if let last = state.withLock({ $0.last }), ByteSearch.areEqual(last.key.span, key.span) { return last.value }
        let digest = Digest.sha256(key.span)
        let answer: Result<Value, Refusal>
        if let known = state.withLock({ $0.answers[digest] }) {
            answer = known
        } else {
            do throws(Refusal) {
                answer = .success(try judge())
            } catch {
                answer = .failure(error)
            }
        }
        let good = (try? answer.get()).flatMap { isVouchedFor($0) ? $0 : nil }
        state.withLock { state in
            state.keep(answer, isGood: good != nil, by: digest)
            if let good { state.last = (Array(key), good) }
        }
        return try answer.get()
    }
}
