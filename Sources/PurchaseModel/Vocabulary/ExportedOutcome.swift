/// What became of a transaction in the ledger of ours that it was exported from.
package enum ExportedOutcome: Hashable, Sendable {
    /// Somebody has delivered it: that ledger, with this fence, or another system before it, with 0. Its shop has heard, too, if
    /// it was taken back in part or whole.
    case delivered(fence: Int64, isTakenBack: Bool = false)
    /// Nobody has: it waits there, or was withheld. Whether only Apple's history has told of it stays known.
    case notGiven(FulfilmentState, FulfilmentReason, isOfHistory: Bool = false)

    /// More changes than this no delivery has.
    private static let fenceMax: Int64 = 1 << 40

    /// - Parameters:
    ///   - state: as that ledger says it.
    ///   - reason: why nothing was given.
    ///   - fence: of what was given.
    ///   - isImported: whether another system had delivered it before.
    ///   - isOfHistory: whether only Apple's history has told of it.
    package init(
        _ state: FulfilmentState,
        _ reason: FulfilmentReason?,
        fence: Int64,
        isImported: Bool,
        isOfHistory: Bool = false
    ) {
        switch state {
        case .granted, .partlyReversed, .reversed:
            self = .delivered(fence: min(max(fence, 1), Self.fenceMax), isTakenBack: state != .granted)
        case .waiting, .withheld:
            guard !isImported, let reason else {
                self = .delivered(fence: 0)
                return
            }
            self = .notGiven(state, reason, isOfHistory: isOfHistory)
        }
    }

    /// Whether only Apple's history has told of it.
    var isOfHistory: Bool {
        if case .notGiven(_, let reason, let isMarked) = self { isMarked || reason == .fromHistory } else { false }
    }
}

/// A row of an export of ours: the one transaction that it is about, and what became of that.
package struct ExportedRow: Hashable, Sendable {
    package let transaction: TransactionID
    package let outcome: ExportedOutcome
    /// What was bought before that in the transaction's chain that ledger has rows of, or another system had delivered before it;
    /// nobody has delivered what was bought since. `nil` where the row does not say.
    package let booksUntil: Timestamp?

    package init(_ transaction: TransactionID, _ outcome: ExportedOutcome, booksUntil: Timestamp? = nil) {
        self.transaction = transaction
        self.outcome = outcome
        self.booksUntil = booksUntil
    }
}
