import Synchronization

/// What happened in a run, line by line: a fingerprint of all of it, and the last lines for whoever looks for the cause.
///
/// Nothing stands in it that differs from run to run: no signature, no digest of one.
package final class Chronicle: Sendable {
    private static let keptMax = 40

    private struct State {
        /// FNV-1a, 64 bits.
        var fingerprint: UInt64 = 0xCBF2_9CE4_8422_2325
        var count = 0
        var last: [String] = []
    }

    private let state = Mutex(State())

    package init() {}

    package func note(_ line: String) {
        state.withLock { state in
            for byte in line.utf8 { state.fingerprint = (state.fingerprint ^ UInt64(byte)) &* 0x100_0000_01B3 }
            state.fingerprint = (state.fingerprint ^ 0x0A) &* 0x100_0000_01B3
            state.count += 1
            if state.last.count == Self.keptMax { state.last.removeFirst() }
            state.last.append("\(state.count) \(line)")
        }
    }

    package var fingerprint: UInt64 { state.withLock { $0.fingerprint } }
    package var count: Int { state.withLock { $0.count } }
    package var last: [String] { state.withLock { $0.last } }
}
