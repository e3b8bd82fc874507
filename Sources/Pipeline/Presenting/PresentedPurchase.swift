package import PurchaseModel
package import Storage
import Verification

/// An accepted proof as other protocols tell of it: what it says itself, and what the ledger knows of the same purchases.
package struct PresentedPurchase: Sendable {
    /// A stable word, such as `app_receipt`.
    package let format: String
    package let bundleID: String?
    /// Which store it is from; `nil` while nobody knows.
    package let environment: StoreEnvironment?
    package let signedAt: Timestamp?
    /// Of an app receipt, and of an AppTransaction.
    package let download: AppDownload?
    /// What stands in the proof, in its order; a refund that is known from elsewhere is in it.
    package let transactions: [Transaction]
    /// All that the ledger has of the same chains, and of what else of the customer's is told, the newest first.
    package let known: [RecordedTransaction]
    /// Whether purchases are asked about by what nobody has signed, and none of them is told: none counts for whoever asks.
    package let isWithheld: Bool
    /// How those chains stand that renew.
    package let subscriptions: [Subscription]
    private let owners: [TransactionID: Owner]
    private let given: [TransactionID: Fulfilment]
    private let grants: Grants
    private let terms: AppTerms

    /// An iOS 6 receipt, which verifyReceipt answers in a form of its own.
    package var isOldReceipt: Bool { format == ProofFormat.transactionReceipt.rawValue }

    /// One chain's subscription.
    package func subscription(of transaction: Transaction) -> Subscription? {
        subscriptions.first { $0.chain.original == transaction.originalID ?? transaction.id }
    }

    /// Whether it was delivered to whom it counts for; what the ledger does not have is as Apple says.
    package func isDelivered(_ transaction: Transaction, at now: Timestamp) -> Bool {
        fulfilment(of: transaction)?.isPossessed(under: terms, at: now) ?? true
    }

    /// What Apple took back, in words that know no part: nothing of that of which a part is left.
    package func takenBack(_ transaction: Transaction) -> Revocation? {
        let given = fulfilment(of: transaction).flatMap { $0.isGiven ? $0.isPartlyLeft : nil }
        return given ?? transaction.isPartlyTakenBack ? nil : transaction.revocation
    }

    /// Until when it lasts; `nil` is for ever. Of what has no end by Apple's word the catalogue says it.
    package func end(of transaction: Transaction) -> Timestamp? {
        transaction.expiresAt ?? fulfilment(of: transaction)?.end(under: terms, quantity: transaction.quantity)
    }

    /// What was given for a transaction. A restore by StoreKit 1 has a number of its own, for which nothing is given: then it is
    /// what was given for the purchase by another one.
    private func fulfilment(of transaction: Transaction) -> Fulfilment? {
        guard let own = given[transaction.id], own.reason == .alreadyGranted else { return given[transaction.id] }
        return grants.row(of: transaction, in: own.chain) ?? own
    }

    /// Whether it counts for a customer; what is nobody's yet counts for whoever shows it, and what is somebody's for nobody
    /// who says no name.
    package func counts(_ transaction: Transaction, for customer: CustomerID?) -> Bool {
        guard let owner = owners[transaction.originalID ?? transaction.id] else { return true }
        return customer.map { owner.mayUse($0) } ?? false
    }
}

extension PresentedPurchase {
    /// Whether purchases stand in it, and none of them is a customer's.
    package func isOfOthers(than customer: CustomerID) -> Bool {
        !transactions.isEmpty && !transactions.contains { counts($0, for: customer) }
    }

    fileprivate init(
        _ report: Report,
        said: [Transaction],
        isJudged: Bool,
        isWithheld: Bool,
        known: [RecordedTransaction],
        subscriptions: [Subscription],
        owners: [TransactionID: Owner],
        given: [Fulfilment],
        terms: AppTerms
    ) {
        let byID = Dictionary(known.map { ($0.id, $0.transaction) }, uniquingKeysWith: { first, _ in first })
        let (claims, replaced) = (report.claims, replacedPeriods(among: known.map(\.transaction)))
        format = report.format.rawValue
        bundleID = claims.bundleID
        environment = known.first?.realm.environment ?? claims.environment
        signedAt = isJudged ? claims.signedAt : nil
        download = isJudged ? claims.download : nil
        transactions = said.map { said in
            var said = said
            said.revocation = byID[said.id]?.revocation ?? said.revocation
            said.ownership = byID[said.id]?.ownership ?? said.ownership
            said.isUpgraded = said.isUpgraded || replaced.contains(said.id)
            return said
        }
        self.known = known.map { recorded in
            guard replaced.contains(recorded.id), !recorded.transaction.isUpgraded else { return recorded }
            var marked = recorded
            marked.transaction.isUpgraded = true
            return marked
        }
        self.isWithheld = isWithheld
        self.subscriptions = subscriptions
        self.owners = owners
        self.given = Dictionary(given.map { ($0.transaction.id, $0) }, uniquingKeysWith: { first, _ in first })
        grants = Grants(known, self.given)
        self.terms = terms
    }
}

extension PurchasePipeline {
    /// What an accepted proof says, and what the ledger knows of it by now.
    ///
    /// Trust nothing of it before ``submit(_:)`` has said that it is recorded, or a submission that waited was found
    /// genuine: it is read here, and not decided. What nobody has judged as it stands, such as an answer of verifyReceipt,
    /// only says what to ask Apple about: of that it tells what the ledger has and counts for its customer.
    ///
    /// - Parameters:
    ///   - submission: the proof, and whose it is said to be.
    ///   - beside: what else of the customer's is told.
    /// - Returns: what is told.
    /// - Throws: what a question throws.
    package func presented(
        _ submission: Submission,
        beside: RestOfCustomer.Wish = .nothing
    ) async throws(StoreFailure) -> PresentedPurchase {
        let examination = verifier.examine(submission.bytes, expecting: Expectation(bundleID: submission.app.bundleID))
        let (found, app, now) = (examination.report, submission.app.id, clock.now)
        let terms = submission.app.terms
        let isJudged = examination.proof != nil || found.format.isReceipt
        let (asked, claims) = isJudged ? ([], true) : (asked(about: submission.bytes), claims(submission))
        let realms = examination.proof?.realm.map { [$0] } ?? Self.realms(of: submission, isJudged: isJudged)
        return try await store.read { reader throws(StoreFailure) in
            let keys = asked.flatMap { id in realms.map { TransactionKey(app: app, realm: $0, id: id) } }
            let named = try reader.transactions(keys)
            let told = try Self.counting(named, for: submission.customer, claims: claims, reader)
            let said = isJudged ? found.claims.transactions : told.map(\.transaction)
            let chains =
                isJudged
                ? Set(said.map { $0.originalID ?? $0.id }).flatMap { original in
                    realms.map { ChainKey(app: app, realm: $0, original: original) }
                } : Array(Set(told.map(\.chain)))
            var given = try reader.fulfilments(chains)
            var known = try reader.transactions(given.map(\.transaction))
            var owners = try reader.owners(Array(Set(known.map(\.chain))))
            if let realm = examination.proof?.realm {
                let customer = beside.customer(of: submission, whoHave: owners)
                let rest = try RestOfCustomer(of: customer, in: realm, but: chains, app: submission.app, reader)
                (given, known, owners) = (given + rest.given, known + rest.known, owners + rest.owners)
            }
            known.sort { ($0.transaction.purchasedAt, $0.id) > ($1.transaction.purchasedAt, $1.id) }
            return PresentedPurchase(
                found,
                said: said,
                isJudged: isJudged,
                isWithheld: !named.isEmpty && told.isEmpty,
                known: known,
                subscriptions: try Self.subscriptions(of: Array(Set(known.map(\.chain))), reader, at: now),
                owners: Dictionary(owners.map { ($0.chain.original, $0) }, uniquingKeysWith: { first, _ in first }),
                given: given,
                terms: terms
            )
        }
    }

    /// The sides of the wall on which a proof may be recorded that does not say itself on which. A receipt's host is told where
    /// else it stands; of what nobody has signed nothing is told but of the stores that count.
    private static func realms(of submission: Submission, isJudged: Bool) -> [Realm] {
        Realm.known.filter { realm in
            guard submission.environments?.contains(realm.environment) ?? true else { return false }
            return isJudged || submission.app.environments.contains(realm.environment)
        }
    }

    /// Whether what is nobody's counts for whoever brings a proof of it.
    private func claims(_ submission: Submission) -> Bool {
        submission.isFromShop || !verifier.matter(of: submission.bytes).onlyNames
    }

    /// What counts for whom a list was brought that nobody has signed. What is nobody's counts where nobody was named, and where
    /// bringing it would make it somebody's.
    private static func counting(
        _ named: [RecordedTransaction],
        for customer: CustomerID?,
        claims: Bool,
        _ reader: any StoreReader
    ) throws(StoreFailure) -> [RecordedTransaction] {
        let standing = try StandingChains(of: named, reader)
        return named.filter { recorded in
            guard let owner = standing.owner(of: recorded) else { return customer == nil && claims }
            return customer.map { owner.mayUse($0) } ?? false
        }
    }

    /// Whether a genuine signature stands over a receipt without a purchase: it waits to be looked into again, if there is
    /// room, and says already that there is none yet.
    package func isEmptyReceipt(_ submission: Submission) -> Bool {
        verifier.examine(submission.bytes, expecting: submission.expectation).proof
            .map { $0.fact.format == .appReceipt && $0.fact.transactions.isEmpty } ?? false
    }

    /// Which store a refused proof says that it is from, true or not.
    package func claimedEnvironment(of bytes: [UInt8]) -> StoreEnvironment? {
        verifier.examine(bytes, expecting: Expectation()).report.claims.environment
    }

    private static func subscriptions(
        of chains: [ChainKey],
        _ reader: any StoreReader,
        at now: Timestamp
    ) throws(StoreFailure) -> [Subscription] {
        let rows = try reader.subscriptions(chains).sorted { $0.chain.original < $1.chain.original }
        let periods = Dictionary(
            try reader.transactions(rows.compactMap(\.currentKey)).map { ($0.key, $0.transaction) },
            uniquingKeysWith: { first, _ in first }
        )
        return rows.compactMap { row in
            PurchaseModel.fold(row.chain, row.currentKey.flatMap { periods[$0] }, row.renewal, row.ends, at: now)
        }
    }
}
