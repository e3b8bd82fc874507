import PurchaseModel
import Storage
import Synchronization

/// Waits until a proof that could not be decided at once is decided, or the patience is over.
final class SubmissionWait: Sendable {
    /// Who comes on top is answered at once: requests that wait take the places of others.
    static let waitingMax = 256
    /// Between two looks. A decision takes as long as Apple does, some seconds.
    private static let step = Duration.milliseconds(500)

    private let store: any Store
    private let pause: @Sendable (Duration) async -> Bool
    private let waiting = Mutex(0)

    /// - Parameters:
    ///   - store: where what waits is kept.
    ///   - pause: lets a while pass; false when it is not to be waited any more.
    init(store: any Store, pause: @escaping @Sendable (Duration) async -> Bool) {
        self.store = store
        self.pause = pause
    }

    /// - Returns: as it stands at last; `nil` when the app has no such submission: another app's is not there.
    func submission(
        _ id: SubmissionID,
        of app: AppID,
        patience: Duration
    ) async throws(StoreFailure) -> KeptSubmission? {
        guard var found = try await find(id, app) else { return nil }
        guard found.settlement == nil, patience > .zero, takePlace() else { return found }
        defer { waiting.withLock { $0 -= 1 } }
        var waited = Duration.zero
        while found.settlement == nil, waited < patience, await pause(Self.step) {
            waited += Self.step
            found = try await find(id, app) ?? found
        }
        return found
    }

    private func takePlace() -> Bool {
        waiting.withLock { waiting in
            guard waiting < Self.waitingMax else { return false }
            waiting += 1
            return true
        }
    }

    private func find(_ id: SubmissionID, _ app: AppID) async throws(StoreFailure) -> KeptSubmission? {
        let found = try await store.read { reader throws(StoreFailure) in try reader.submission(id) }
        return found?.submission.app == app ? found : nil
    }
}
