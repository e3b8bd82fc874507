package import PurchaseModel
import Storage
import Synchronization
package import Verification

/// What refusals are counted by while the process runs. Stable words; few of them.
package struct RefusalWord: Hashable, Sendable {
    package let app: AppID
    package let format: ProofFormat
    package let reason: Reason
}

/// Counts refusals in memory and keeps a few of them as samples. Nothing here costs a disk write: what has gathered is
/// handed to the next commit that happens anyway.
package final class RefusalLedger: Sendable {
    /// Enough to see what is going on; a flood overwrites the oldest.
    static let samplesMax = 64

    private struct State {
        var totals: [RefusalWord: Int] = [:]
        var unwritten: [RefusalKey: Int] = [:]
        var samples: [RefusalSample] = []
        var next = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Notes one refusal; writes nothing.
    func note(_ word: RefusalWord, at moment: Timestamp, sample: @autoclosure () -> RefusalSample?) {
        let key = RefusalKey(hour: HourOfTime(containing: moment), app: word.app, reason: word.reason.rawValue)
        state.withLock { state in
            state.totals[word, default: 0] += 1
            state.unwritten[key, default: 0] += 1
            guard let sample = sample() else { return }
            if state.samples.count < RefusalLedger.samplesMax {
                state.samples.append(sample)
            } else {
                state.samples[state.next] = sample
                state.next = (state.next + 1) % RefusalLedger.samplesMax
            }
        }
    }

    /// All since the start, for the metrics.
    package var totals: [RefusalWord: Int] {
        state.withLock { $0.totals }
    }

    /// Takes out what has not been written yet; ``putBack(_:)`` returns it when it could not be.
    func takeUnwritten() -> RefusalBatch {
        state.withLock { state in
            defer {
                state.unwritten = [:]
                state.samples = []
                state.next = 0
            }
            return RefusalBatch(counts: state.unwritten, samples: state.samples)
        }
    }

    func putBack(_ batch: RefusalBatch) {
        guard !batch.isEmpty else { return }
        state.withLock { state in
            state.unwritten.merge(batch.counts, uniquingKeysWith: +)
            let room = RefusalLedger.samplesMax - state.samples.count
            state.samples.append(contentsOf: batch.samples.prefix(max(room, 0)))
        }
    }
}

/// What gathered between two commits.
struct RefusalBatch: Sendable {
    let counts: [RefusalKey: Int]
    let samples: [RefusalSample]

    static let empty = RefusalBatch(counts: [:], samples: [])

    var isEmpty: Bool { counts.isEmpty }
}
