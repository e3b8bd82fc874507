package import PurchaseModel
package import Storage

/// What must be known of the ledger to say what would become of some rows, without taking any.
package struct ImportLookup: Sendable {
    /// What it says.
    package struct Answer: Sendable {
        /// Those of the transactions that are recorded.
        package var recorded: Set<TransactionKey>
        /// Those of the rows that only Apple decides about which it need not be asked.
        package var decided: Set<SubmissionID>

        package init(recorded: Set<TransactionKey> = [], decided: Set<SubmissionID> = []) {
            self.recorded = recorded
            self.decided = decided
        }
    }

    /// What stands in the rows.
    package private(set) var keys: [TransactionKey] = []
    private var asking: [(pending: PendingSubmission, number: TransactionID?, isRefused: Bool)] = []

    init(_ rows: [ExaminedRow]) { for row in rows { add(row.finding) } }

    private mutating func add(_ finding: ExaminedRow.Finding) {
        switch finding {
        case .record(let recording, _, _, _): keys += recording.keys
        case .claim(let claim, let otherwise):
            keys.append(claim.key)
            add(otherwise)
        case .ask(let pending, let number, _, let refused): asking.append((pending, number?.id, refused != nil))
        case .over: break
        }
    }

    package func answered(by reader: any StoreReader) throws(StoreFailure) -> Answer {
        var answer = Answer(recorded: Set(try reader.transactions(keys).map(\.key)))
        for (pending, number, isRefused) in asking
        where try reader.hasAnswer(about: pending, number, fromOthers: !isRefused) {
            answer.decided.insert(pending.id)
        }
        return answer
    }
}

extension StoreReader {
    /// Whether a number is recorded with its customer: that needs no answer of Apple's.
    private func hasRecorded(_ number: TransactionID?, for pending: PendingSubmission) throws(StoreFailure) -> Bool {
        guard let number else { return false }
        return try transactions(app: pending.app, id: number).contains { pending.isAnswered(by: $0) }
    }

    fileprivate func hasAnswer(
        about pending: PendingSubmission,
        _ number: TransactionID?,
        fromOthers: Bool
    ) throws(StoreFailure) -> Bool {
        if try hasRecorded(number, for: pending) { return true }
        if try submission(alike: pending) != nil { return true }
        guard fromOthers else { return false }
        return try importedSubmission(like: pending) != nil
    }

    /// Whose turn it is where imports have kept the same for several customers: whoever's row came first.
    func firstInTurn(with kept: KeptSubmission) throws(StoreFailure) -> KeptSubmission {
        guard kept.submission.origin != .presented else { return kept }
        return try importedSubmission(like: kept.submission) ?? kept
    }
}

extension PendingSubmission {
    /// Whether what is recorded under its number is known with its customer.
    func isAnswered(by recorded: RecordedTransaction) -> Bool {
        customer == nil || recorded.customer == customer
    }
}
