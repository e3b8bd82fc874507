import PurchaseModel
import Storage

/// What an import has kept by its number, as another system's delivery, and somebody proves before Apple has answered about it.
///
/// It is taken out of the old books first, as it would be had Apple answered already: else whoever presents it meanwhile would
/// be given it once more.
struct WaitingBooks: Sendable {
    /// What stands in the books of each proof, by the proof's place: to be decided before it.
    private var recordings: [Int: [Recording]] = [:]

    /// - Parameters:
    ///   - proofs: what is to be recorded.
    ///   - situation: around it.
    ///   - reader: of the write that records it.
    /// - Throws: `StoreFailure`.
    init(behind proofs: [Recording], in situation: Situation, _ reader: any StoreReader) throws(StoreFailure) {
        // Mostly all is known, or nothing waits: then no more is asked than that, and once for each app.
        var (asked, apps): (Set<AppID>, Set<AppID>) = ([], [])
        for proof in proofs where !asked.contains(proof.app) && proof.hasOpen(in: situation) {
            asked.insert(proof.app)
            if try reader.importsWait(of: proof.app) { apps.insert(proof.app) }
        }
        if apps.isEmpty { return }
        var names: Set<SubmissionName> = []
        for proof in proofs where apps.contains(proof.app) {
            for transaction in proof.open(in: situation) { names.formUnion(transaction.names(in: proof.app)) }
        }
        let kept = try reader.importedSubmissions(under: Array(names))
            .filter { $0.value.submission.origin == .delivered }
        if kept.isEmpty { return }
        for (place, proof) in proofs.enumerated() {
            let found = proof.inBooks(of: kept, situation)
            if !found.isEmpty { recordings[place] = found }
        }
    }

    var all: [Recording] { recordings.values.flatMap(\.self) }

    /// What comes before the proof of a place.
    func before(_ place: Int) -> [Recording] { recordings[place] ?? [] }
}

extension Recording {
    /// Of what it proves that which may still be given.
    fileprivate func open(in situation: Situation) -> [Transaction] {
        guard hasOpen(in: situation) else { return [] }
        return zip(transactions, keys).filter { isOpen($0, $1, situation) }.map { $0.0 }
    }

    fileprivate func hasOpen(in situation: Situation) -> Bool {
        // What is imported is decided as its own row says.
        guard source != .imported, !isUndelivered else { return false }
        return zip(transactions, keys).contains { isOpen($0, $1, situation) }
    }

    private func isOpen(_ transaction: Transaction, _ key: TransactionKey, _ situation: Situation) -> Bool {
        // What was taken back gives nothing, and the shop may hear of that.
        if let revocation = transaction.takenBack, revocation.share == Fulfilment.whole { return false }
        guard let fulfilment = situation.fulfilment(of: key) else { return true }
        return (fulfilment.state == .waiting || fulfilment.customer == nil) && !fulfilment.isImported
    }

    /// The same, as far as it stands in the books, for each customer whose it is there.
    fileprivate func inBooks(of kept: [SubmissionName: KeptSubmission], _ situation: Situation) -> [Recording] {
        var found: [Recording] = []
        for transaction in open(in: situation) {
            guard let (row, closing) = row(of: transaction, among: kept, situation) else { continue }
            let customer = row.customer
            if let place = found.firstIndex(where: { $0.customer == customer }) {
                found[place].transactions.append(transaction)
                found[place].booksClosedAt = max(found[place].booksClosedAt ?? closing, closing)
            } else {
                found.append(of(transaction, row, closing))
            }
        }
        return found
    }

    /// The row that names a transaction, or the first one of its chain, and when the books were closed in which it stands.
    private func row(
        of transaction: Transaction,
        among kept: [SubmissionName: KeptSubmission],
        _ situation: Situation
    ) -> (PendingSubmission, Timestamp)? {
        for (place, name) in transaction.names(in: app).enumerated() {
            guard let row = kept[name]?.submission else { continue }
            // What it names was bought before, whatever our clock says.
            if place == 0 { return (row, max(row.receivedAt, transaction.purchasedAt.advanced(by: .milliseconds(1)))) }
            let key = TransactionKey(app: app, realm: realm, id: transaction.id)
            let known = situation[key]?.recordedAt ?? transaction.purchasedAt
            // What was presented before the row came, and had to wait, is none of its.
            if let presentedAt, presentedAt < row.receivedAt { continue }
            if min(transaction.purchasedAt, known) < row.receivedAt { return (row, row.receivedAt) }
        }
        return nil
    }

    private func of(_ transaction: Transaction, _ row: PendingSubmission, _ closing: Timestamp) -> Recording {
        var books = Recording(app: app, realm: realm, transactions: [transaction], terms: terms)
        books.customer = row.customer
        books.customerToken = row.customer.flatMap { AccountToken(ofCustomer: $0) }
        (books.source, books.booksClosedAt, books.schedule) = (.imported, closing, schedule)
        // What Apple says of how it goes on comes with the proof, and is told by that.
        books.isFollowed = renewals.contains { $0.originalID == transaction.originalID ?? transaction.id }
        return books
    }
}

extension Transaction {
    /// Under which an import keeps its number, or that of the first one of its chain.
    fileprivate func names(in app: AppID) -> [SubmissionName] {
        let numbers = [id] + (originalID.flatMap { $0 == id ? nil : [$0] } ?? [])
        return numbers.map { number in
            SubmissionName(app: app, digest: ProofDigest(of: Array(number.description.utf8)), customer: nil)
        }
    }
}
