package import PurchaseModel

/// The questions that a store answers.
package protocol StoreReader:
    FulfilmentReader, SubscriptionReader, EventReader, WebhookReader, JobReader, IdempotencyReader, NotificationReader,
    CertificateReader, AdminReader, APIKeyReader, ConsumptionReader, SupportReader, ImportReader, WalkReader,
    FigureReader
{
    /// What time it is for all that waits for a moment or has waited for so long: a store that several machines share goes
    /// by its database's clock, whatever the caller's says.
    func storeTime(_ callers: Timestamp) throws(StoreFailure) -> Timestamp

    /// The recorded ones among these, in the order of the keys.
    func transactions(_ keys: [TransactionKey]) throws(StoreFailure) -> [RecordedTransaction]

    /// One number on every side of every wall, in the order of recording.
    func transactions(app: AppID, id: TransactionID) throws(StoreFailure) -> [RecordedTransaction]

    /// The transactions of the chains that a customer owns or shares, after a place in the listing; none if the app has no
    /// such place. The limit is brought between 1 and ``TransactionPage/limitMax``.
    ///
    /// - Parameters:
    ///   - app: whose customer it is.
    ///   - customer: whose transactions.
    ///   - order: in which they are listed.
    ///   - cursor: behind what; `nil` for the beginning.
    ///   - limit: how many at most.
    ///   - isListed: on which sides of the wall they stand: what is on another one fills no page, and no place names it.
    /// - Returns: the page.
    /// - Throws: ``StoreFailure``.
    func transactions(
        app: AppID,
        customer: CustomerID,
        order: ListingOrder,
        after cursor: TransactionCursor?,
        limit: Int,
        where isListed: (Realm) -> Bool
    ) throws(StoreFailure) -> TransactionPage

    /// What first proved a transaction, or with what its customer first showed it where it was known before. `nil` when it is
    /// not recorded.
    func evidence(of key: TransactionKey) throws(StoreFailure) -> EvidenceRow?

    /// The newest proof of a transaction: of its revocation, say. The first one when Apple has signed nothing newer.
    func latestEvidence(of key: TransactionKey) throws(StoreFailure) -> EvidenceRow?

    /// What proves that of a transaction which its newest proof is of the wrong kind to tell: StoreKit 2, where that one is a
    /// receipt. `nil` when there is none.
    func fullerEvidence(of key: TransactionKey) throws(StoreFailure) -> EvidenceRow?

    func submission(_ id: SubmissionID) throws(StoreFailure) -> KeptSubmission?

    /// Those of these ids under which a submission is kept, decided or not.
    func keptSubmissions(among ids: [SubmissionID]) throws(StoreFailure) -> Set<SubmissionID>

    /// The id under which this app, digest and customer are kept already, decided or not; `nil` once it was given up, or has
    /// been ``Settlement/notYours`` for ``Settlement/notYoursFor`` when this one was received, or was refused before this one
    /// says that it matters.
    func submission(alike: PendingSubmission) throws(StoreFailure) -> SubmissionID?

    /// How those of them ended that were refused at that moment or later.
    func refusals(of names: [SubmissionName], since: Timestamp) throws(StoreFailure) -> [SubmissionName: Settlement]

    /// Whether anything that an import of an app has kept still waits for Apple.
    func importsWait(of app: AppID) throws(StoreFailure) -> Bool

    /// Of each of these the undecided submission of an import that was kept first of those with the same app and digest,
    /// whoever their customers are: the names' customers say nothing.
    func importedSubmissions(
        under names: [SubmissionName]
    ) throws(StoreFailure) -> [SubmissionName: KeptSubmission]

    /// How many undecided submissions of an app there are, and how large. Looks at each of them: ask once and count on.
    /// Imports' do not count.
    func pendingLoad(app: AppID) throws(StoreFailure) -> PendingLoad

    /// How many undecided submissions of one customer there are, as far as a limit. Looks at no more of them than that.
    /// Imports' do not count.
    func pendingCount(app: AppID, customer: CustomerID, limit: Int) throws(StoreFailure) -> Int

    /// What was presented and waits undecided, of each app that has any, by the app's name. Looks at each of them, of
    /// which an app may have only so many, and at no import's.
    func pendingBacklogs() throws(StoreFailure) -> [PendingBacklog]

    /// The undecided submissions of an app, or of all, oldest first; the limit is brought between 1 and
    /// ``SubmissionPage/limitMax``.
    func pendingSubmissions(
        app: AppID?,
        after cursor: SubmissionCursor?,
        limit: Int
    ) throws(StoreFailure) -> SubmissionPage

    func figures() throws(StoreFailure) -> StoreFigures

    /// Counts of an hour and later, by hour, then app (none first, then by name), then reason; the limit is brought
    /// between 1 and ``TransactionPage/limitMax``.
    func refusalCounts(since hour: HourOfTime, limit: Int) throws(StoreFailure) -> [RefusalCount]

    /// What was refused in an hour and later, by app and reason: the most first, then by app (none first), then by
    /// reason; the limit is brought between 1 and ``TransactionPage/limitMax``.
    func refusalTotals(since hour: HourOfTime, limit: Int) throws(StoreFailure) -> [RefusalTotal]

    /// The last refused proofs, newest first; the limit is brought between 1 and ``RefusalSample/listedMax``.
    func refusalSamples(limit: Int) throws(StoreFailure) -> [RefusalSample]

    /// Those of the kept ones that are about it, newest first; the limit is brought between 1 and
    /// ``RefusalSample/listedMax``.
    func refusalSamples(of subject: RefusalSubject, limit: Int) throws(StoreFailure) -> [RefusalSample]
}

extension StoreReader {
    /// The same on all sides of the wall.
    package func transactions(
        app: AppID,
        customer: CustomerID,
        order: ListingOrder,
        after cursor: TransactionCursor?,
        limit: Int
    ) throws(StoreFailure) -> TransactionPage {
        try transactions(app: app, customer: customer, order: order, after: cursor, limit: limit) { _ in true }
    }

    /// What became of transactions, wherever each stands: in its chain, or by itself when its chain was not known at first.
    package func fulfilments(
        of transactions: [RecordedTransaction]
    ) throws(StoreFailure) -> [TransactionKey: Fulfilment] {
        Dictionary(
            try fulfilments(Array(Set(transactions.flatMap(\.chains)))).map { ($0.key, $0) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// The undecided submission of an import that was kept first of those with the same app and digest, whoever their
    /// customers are.
    package func importedSubmission(like submission: PendingSubmission) throws(StoreFailure) -> KeptSubmission? {
        try importedSubmissions(under: [submission.name])[submission.name]
    }
}
