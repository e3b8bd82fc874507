/// What became of a transaction in the ledger of ours that it was exported from.
package enum ExportedOutcome: Hashable, Sendable {
    /// Somebody has delivered it: that ledger, with this fence, or another system before it, with 0.
    case delivered(fence: Int64)
    /// Nobody has: it waits there, or was withheld.
    case notGiven(FulfilmentState, FulfilmentReason)

    /// More changes than this no delivery has.
    private static let fenceMax: Int64 = 1 << 40

    /// - Parameters:
    ///   - state: as that ledger says it.
    ///   - reason: why nothing was given.
    ///   - fence: of what was given.
    ///   - isImported: whether another system had delivered it before.
    package init(_ state: FulfilmentState, _ reason: FulfilmentReason?, fence: Int64, isImported: Bool) {
        switch state {
        case .granted, .partlyReversed, .reversed: self = .delivered(fence: min(max(fence, 1), Self.fenceMax))
        case .waiting, .withheld:
            guard !isImported, let reason else {
                self = .delivered(fence: 0)
                return
            }
            self = .notGiven(state, reason)
        }
    }
}

/// A row of an export of ours: the one transaction that it is about, and what became of that.
package struct ExportedRow: Hashable, Sendable {
    package let transaction: TransactionID
    package let outcome: ExportedOutcome

    package init(_ transaction: TransactionID, _ outcome: ExportedOutcome) {
        self.transaction = transaction
        self.outcome = outcome
    }
}
