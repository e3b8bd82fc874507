package import PurchaseModel
package import Storage
import Synchronization

/// Writes how attempts ended: in one commit whatever has ended while the last one was being made, without waiting for more.
///
/// It has no task of its own. Who comes while nobody writes does it for all that wait, and hands on to the next of them.
package final class WebhookSettler: Sendable {
    /// A commit is not to take long: others wait for the writer.
    package static let batchMax = 100

    private struct Waiting {
        let attempted: AttemptedDelivery
        /// Resumed with `nil` when it is its turn to write.
        let answer: CheckedContinuation<Result<DeliveryOutcome?, StoreFailure>?, Never>
    }

    private struct State {
        var waiting: [Waiting] = []
        var isWriting = false
    }

    private let state = Mutex(State())
    private let work: any WebhookWork
    private let clock: any WallClock

    package init(work: any WebhookWork, clock: any WallClock) {
        self.work = work
        self.clock = clock
    }

    /// How many wait for the commit that is being made to be over.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Returns once it is on disk.
    ///
    /// - Returns: what became of it; `nil` when the lease was lost. After a failure nothing is known to have been written.
    package func settle(_ attempted: AttemptedDelivery) async -> Result<DeliveryOutcome?, StoreFailure> {
        let settled = await withCheckedContinuation { answer in
            let isFree = state.withLock { state in
                state.waiting.append(Waiting(attempted: attempted, answer: answer))
                defer { state.isWriting = true }
                return !state.isWriting
            }
            if isFree { answer.resume(returning: nil) }
        }
        if let settled { return settled }
        // Ours is the first of these.
        let batch = state.withLock { state in
            let batch = Array(state.waiting.prefix(WebhookSettler.batchMax))
            state.waiting.removeFirst(batch.count)
            return batch
        }
        let results = await write(batch.map(\.attempted))
        let next = state.withLock { state in
            state.isWriting = !state.waiting.isEmpty
            return state.waiting.first
        }
        next?.answer.resume(returning: nil)
        for (waiting, result) in zip(batch, results).dropFirst() { waiting.answer.resume(returning: result) }
        return results[0]
    }

    private func write(_ batch: [AttemptedDelivery]) async -> [Result<DeliveryOutcome?, StoreFailure>] {
        do throws(StoreFailure) {
            return try await work.finish(batch, at: clock.now).map { .success($0) }
        } catch {
            guard error.mayBeTheFaultOfOne, batch.count > 1 else { return batch.map { _ in .failure(error) } }
            let middle = batch.count / 2
            return await write(Array(batch[..<middle])) + write(Array(batch[middle...]))
        }
    }
}

extension StoreFailure {
    /// Whether others that were written with it may be free of it when they are alone. A full disk fails all alike.
    fileprivate var mayBeTheFaultOfOne: Bool {
        switch self {
        // Broken may be a single row that cannot be read.
        case .conflict, .unstorable, .broken: true
        case .busy, .unreachable, .full, .closed: false
        }
    }
}
