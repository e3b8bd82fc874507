import PurchaseModel
package import Storage
import Verification

/// What is answered when a proof comes again that was kept, and has been decided since.
extension PurchasePipeline {
    /// What has become of a proof that ``submit(_:)`` found to be kept.
    ///
    /// Nothing is recorded by it: what stands in such a proof was never signed. It tells what the ledger has of what Apple
    /// was asked about.
    ///
    /// - Parameters:
    ///   - id: the name under which it is kept.
    ///   - submission: the same proof, as it came again.
    /// - Returns: what the same proof would be answered if its bytes alone had told; `nil` while it waits, and where neither
    ///   a number stands in it nor a customer beside it by which what Apple told of it could be found.
    /// - Throws: `StoreFailure`.
    package func decision(on id: SubmissionID, for submission: Submission) async throws(StoreFailure) -> Outcome? {
        let kept = try await store.read { reader throws(StoreFailure) in try reader.submission(id) }
        guard let kept, let settlement = kept.settlement, let verdict = Verdict(rawValue: settlement.verdict) else {
            return nil
        }
        guard submission.app.accepts(settlement) else { return .refused(Outcome.Refused(verdict)) }
        let asked = asked(about: submission.bytes)
        guard !asked.isEmpty || submission.customer != nil else { return nil }
        let known = try await recorded(of: submission, asked)
        guard !known.isEmpty else {
            return .nothingToRecord(format: kept.submission.format, isTestSigned: verdict == .testSigned)
        }
        let taken = known.filter { submission.app.environments.contains($0.recorded.realm.environment) }
        guard !taken.isEmpty else { return .refused(Outcome.Refused(.environmentNotAccepted)) }
        if let product = submission.product, !taken.contains(where: { $0.recorded.transaction.product == product }) {
            return .refused(Outcome.Refused(.otherProduct))
        }
        return .recorded(Decision(outcomes: taken))
    }

    /// What is said of what was kept if Apple knows none of its numbers, though it has known them: they are in the ledger.
    ///
    /// - Parameters:
    ///   - kept: what waits.
    ///   - app: whose it is.
    /// - Returns: by whom the first of them was vouched for, where each is hers, of whoever brought it, and one that the app
    ///   takes; `nil` otherwise: of a number that nobody knows nothing may be said. Of whoever named nobody any is hers.
    /// - Throws: `StoreFailure`.
    func verdictOfForgotten(_ kept: KeptSubmission, of app: AppPolicy) async throws(StoreFailure) -> Verdict? {
        let (app, customer) = (app.limited(for: kept), kept.submission.customer)
        let numbers = asked(about: kept.submission.proof)
        let keys = Self.keys(of: numbers, app.id)
        let hers = try await store.read { reader throws(StoreFailure) in
            let known = try reader.transactions(keys)
            guard let customer else { return known }
            let standing = try StandingChains(of: known, reader)
            return known.filter { standing.owner(of: $0)?.mayUse(customer) == true }
        }
        let taken = hers.filter {
            app.environments.contains($0.realm.environment) && (!$0.realm.isTestSigned || app.acceptsTestSigned)
        }
        guard Set(numbers).isSubset(of: taken.map(\.id)) else { return nil }
        return taken.first.map { $0.realm.isTestSigned ? .testSigned : .genuine }
    }

    /// What the ledger has of the transactions that Apple was asked about, and of the rest of their chains: Apple's answer
    /// may have told of renewals that do not stand in the proof. Of a receipt in which none stood, it is the customer's newest.
    private func recorded(
        of submission: Submission,
        _ asked: [TransactionID]
    ) async throws(StoreFailure) -> [TransactionOutcome] {
        let (app, terms, customer) = (submission.app.id, submission.app.terms, submission.customer)
        let keys = Self.keys(of: asked, app)
        return try await store.read { reader throws(StoreFailure) in
            var named = try reader.transactions(keys)
            if asked.isEmpty, let customer {
                let limit = TransactionPage.limitMax
                named =
                    try reader.transactions(app: app, customer: customer, order: .newestFirst, after: nil, limit: limit)
                    .transactions
            }
            let chains = try StandingChains(of: named, reader)
            let rest = Set(chains.given.keys).subtracting(named.map(\.key)).sorted { $0.id < $1.id }
            let recorded = named + (try reader.transactions(rest))
            return recorded.map { recorded in
                let fulfilment = chains.given[recorded.key]
                // What is nobody's, though a customer was named, became nobody's by this proof.
                guard let customer, chains.owner(of: recorded)?.mayUse(customer) != true else {
                    return TransactionOutcome(
                        recorded: recorded,
                        standing: standing(of: recorded, fulfilment, under: terms),
                        isNew: false,
                        fulfilment: fulfilment
                    )
                }
                return TransactionOutcome(recorded: recorded, standing: .ownedByAnother, isNew: false)
            }
        }
    }

    /// Where numbers may be recorded: on any side of the wall.
    private static func keys(of numbers: [TransactionID], _ app: AppID) -> [TransactionKey] {
        numbers.flatMap { id in Realm.known.map { TransactionKey(app: app, realm: $0, id: id) } }
    }

    /// The numbers of what Apple was asked about, each once, in the order of the proof.
    func asked(about bytes: [UInt8]) -> [TransactionID] {
        switch verifier.question(about: bytes) {
        case .transactions(let ids): return ids
        case .receipt(let receipt):
            var seen: Set<TransactionID> = []
            let claims = verifier.examine(receipt, expecting: Expectation()).report.claims
            return claims.transactions.map(\.id).filter { seen.insert($0).inserted }
        case nil: return []
        }
    }
}

/// What was given in the chains of some transactions, and whose they are.
struct StandingChains {
    let given: [TransactionKey: Fulfilment]
    private let owners: [ChainKey: Owner]

    init(of recorded: [RecordedTransaction], _ reader: any StoreReader) throws(StoreFailure) {
        let chains = Set(recorded.flatMap(\.chains))
        given = Dictionary(
            try reader.fulfilments(Array(chains)).map { ($0.transaction, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        owners = Dictionary(
            try reader.owners(Array(chains)).map { ($0.chain, $0) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    func owner(of recorded: RecordedTransaction) -> Owner? { owners[given[recorded.key]?.chain ?? recorded.chain] }
}

extension AppPolicy {
    /// Whether what was settled so is recorded, as far as the app takes it: what a test authority signed may have been
    /// refused for that.
    package func accepts(_ settlement: Settlement) -> Bool {
        switch Verdict(rawValue: settlement.verdict) {
        case .genuine: true
        case .testSigned: acceptsTestSigned
        default: false
        }
    }
}

extension KeptSubmission {
    /// Whether it is there for whoever asks: it may be of a store that he sees. Of which it is, is not kept with it; but its
    /// number follows from the proof and the customer, so that who asks for it knows both.
    package func isShown(by app: AppPolicy) -> Bool {
        guard let sight = app.sight, let stores = submission.environments else { return true }
        return !stores.isDisjoint(with: sight)
    }
}
