import PurchaseModel
import Storage
import Synchronization
import Verification

/// Counts refusals in memory and keeps a few of them as samples. Nothing here costs a disk write: what has gathered is
/// handed to the next commit that happens anyway.
package final class RefusalLedger: Sendable {
    /// Enough to see what is going on; a flood overwrites the oldest.
    static let samplesMax = 64
    /// Hours, apps and reasons that are counted apart until a commit takes them: weeks without a single purchase. What
    /// would come on top is in the metrics only.
    static let unwrittenMax = 4_096

    private struct State {
        var unwritten: [RefusalKey: Int] = [:]
        /// Once it is full, a ring: the oldest stands at `next`.
        var samples: [RefusalSample] = []
        var next = 0

        var samplesInOrder: [RefusalSample] { Array(samples[next...] + samples[..<next]) }

        mutating func add(_ count: Int, to key: RefusalKey) {
            if let known = unwritten[key] {
                unwritten[key] = known + count
            } else if unwritten.count < RefusalLedger.unwrittenMax {
                unwritten[key] = count
            }
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// Notes one refusal; writes nothing.
    ///
    /// - Parameters:
    ///   - app: whose submission it was.
    ///   - reason: the stable word.
    ///   - moment: when it was refused.
    ///   - sample: for a person to look at; `nil` for a repetition.
    func note(_ app: AppID, _ reason: Reason, at moment: Timestamp, sample: RefusalSample?) {
        let key = RefusalKey(hour: HourOfTime(containing: moment), app: app, reason: reason.rawValue)
        state.withLock { state in
            state.add(1, to: key)
            guard let sample else { return }
            if state.samples.count < RefusalLedger.samplesMax {
                state.samples.append(sample)
            } else {
                state.samples[state.next] = sample
                state.next = (state.next + 1) % RefusalLedger.samplesMax
            }
        }
    }

    /// Takes out what has not been written yet; ``putBack(_:)`` returns it when it could not be.
    func takeUnwritten() -> RefusalBatch {
        state.withLock { state in
            defer {
                state.unwritten = [:]
                state.samples = []
                state.next = 0
            }
            return RefusalBatch(counts: state.unwritten, samples: state.samplesInOrder)
        }
    }

    func putBack(_ batch: RefusalBatch) {
        guard !batch.isEmpty else { return }
        state.withLock { state in
            for (key, count) in batch.counts { state.add(count, to: key) }
            // What came meanwhile is newer.
            state.samples = (batch.samples + state.samplesInOrder).suffix(RefusalLedger.samplesMax)
            state.next = 0
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
