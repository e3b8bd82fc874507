import PurchaseModel
package import Storage
import Verification

/// What became of a kept notification that was decided once more.
package enum DecidedAgain: Sendable {
    /// Its facts were recorded, and so many rows of the ledger changed by that: none when all was as it should be.
    case decided(changes: Int)
    /// It carries no transaction: there is nothing to decide.
    case empty
    /// Its bytes do not prove today what they proved when they came, for this reason, a stable word.
    case refused(because: String)
}

// A kept notification, once more.
extension NotificationIntake {
    /// Verifies a kept notification as it came and decides on its facts once more. What it told beside them was told when it
    /// came, and is not told again; what is recorded already changes nothing.
    ///
    /// - Parameters:
    ///   - kept: the notification.
    ///   - app: whose it is.
    ///   - companion: writes what goes with it, in the same commit.
    /// - Returns: what became of it; the companion is run unless it was refused.
    /// - Throws: `StoreFailure`, also what the companion throws.
    package func decideAgain(
        _ kept: KeptNotification,
        of app: AppPolicy,
        with companion: @escaping @Sendable (any StoreTransaction) throws(StoreFailure) -> Void
    ) async throws(StoreFailure) -> DecidedAgain {
        var bytes = kept.payload
        if let notice = UnsignedNotice(bytes) {
            guard let receipt = notice.receipt else { return try await leave(companion) }
            bytes = receipt
        }
        let examination = verifier.examine(bytes, expecting: app.expectationOfNotifications)
        guard let proof = examination.proof else { return .refused(because: examination.report.reason.rawValue) }
        guard app.mayCount(proof), proof.realm == kept.key.realm else {
            return .refused(because: Reason.environmentNotAccepted.rawValue)
        }
        guard !proof.fact.transactions.isEmpty else { return try await leave(companion) }
        var recording = proof.recording(for: app, in: kept.key.realm)
        recording.isLookedUp = !kept.tellsOfPurchase
        let evidence = proof.evidence(at: clock.now)
        let decision = try await recorder.record(recording, evidence: evidence) {
            _,
            transaction throws(StoreFailure) in
            try companion(transaction)
        }
        return .decided(changes: decision.rows)
    }

    private func leave(
        _ companion: @escaping @Sendable (any StoreTransaction) throws(StoreFailure) -> Void
    ) async throws(StoreFailure) -> DecidedAgain {
        try await store.write { transaction throws(StoreFailure) in try companion(transaction) }
        return .empty
    }
}

extension Decision {
    fileprivate var rows: Int {
        changes.count + fulfilments.count + owners.count + orders.count + subscriptions.count + wallets.count
    }
}
