import PurchaseModel

/// One transaction over a connection. Hands each verb to the file that knows its SQL.
final class SQLTransaction: StoreTransaction, HasteSteps {
    let connection: any SQLConnection
    let apps: AppQueries
    private let versions: RowVersions
    let numbers: StreamNumbers
    /// What decisions added to the figures since it was last written.
    var gathered = FigureSums()
    /// What entitlements follow from and decisions wrote.
    private(set) var entitlementPlaces: Set<EntitlementMarks.Place> = []

    /// - Parameters:
    ///   - connection: on which a transaction is open.
    ///   - isToWrite: false when nothing but questions is asked.
    init(_ connection: any SQLConnection, isToWrite: Bool) {
        self.connection = connection
        apps = AppQueries(connection)
        versions = RowVersions(isKept: isToWrite)
        numbers = StreamNumbers(areLasting: isToWrite && !connection.isShared)
    }

    var time: LeaseTime { LeaseTime(connection: connection) }
    private var ledger: TransactionQueries {
        TransactionQueries(connection: connection, apps: apps, versions: versions)
    }
    private var proofs: EvidenceQueries { EvidenceQueries(connection: connection, apps: apps) }
    private var submissions: SubmissionQueries {
        SubmissionQueries(connection: connection, apps: apps, time: time)
    }
    private var refusals: RefusalQueries { RefusalQueries(connection: connection, apps: apps) }

    func storeTime(_ callers: Timestamp) throws(StoreFailure) -> Timestamp { try time.now(callers) }

    func transactions(_ keys: [TransactionKey]) throws(StoreFailure) -> [RecordedTransaction] {
        try ledger.find(keys)
    }

    func transactions(app: AppID, id: TransactionID) throws(StoreFailure) -> [RecordedTransaction] {
        try ledger.find(app: app, id: id)
    }

    func transactions(
        app: AppID,
        customer: CustomerID,
        order: ListingOrder,
        after cursor: TransactionCursor?,
        limit: Int,
        where isListed: (Realm) -> Bool
    ) throws(StoreFailure) -> TransactionPage {
        let hers = try holdings(app: app, customer: customer).filter { isListed($0.realm) }
        return try ledger.list(hers, app: app, order: order, after: cursor, limit: limit)
    }

    func evidence(of key: TransactionKey) throws(StoreFailure) -> EvidenceRow? {
        try proofs.first(of: key)
    }

    func latestEvidence(of key: TransactionKey) throws(StoreFailure) -> EvidenceRow? {
        try proofs.latest(of: key)
    }

    func fullerEvidence(of key: TransactionKey) throws(StoreFailure) -> EvidenceRow? {
        try proofs.fuller(of: key)
    }

    func submission(_ id: SubmissionID) throws(StoreFailure) -> KeptSubmission? {
        try submissions.get(id)
    }

    func submission(alike submission: PendingSubmission) throws(StoreFailure) -> SubmissionID? {
        try submissions.find(submission)
    }

    func refusals(
        of names: [SubmissionName],
        since moment: Timestamp
    ) throws(StoreFailure) -> [SubmissionName: Settlement] {
        try submissions.findRefusals(of: names, since: moment)
    }

    func importsWait(of app: AppID) throws(StoreFailure) -> Bool { try submissions.importsWait(of: app) }

    func importedSubmissions(
        under names: [SubmissionName]
    ) throws(StoreFailure) -> [SubmissionName: KeptSubmission] {
        try submissions.findImported(under: names)
    }

    func pendingLoad(app: AppID) throws(StoreFailure) -> PendingLoad {
        try submissions.weighPending(app: app)
    }

    func pendingBacklogs() throws(StoreFailure) -> [PendingBacklog] { try submissions.backlogs() }

    func pendingCount(app: AppID, customer: CustomerID, limit: Int) throws(StoreFailure) -> Int {
        try submissions.countPending(app: app, customer: customer, limit: limit)
    }

    func pendingSubmissions(
        app: AppID?,
        after cursor: SubmissionCursor?,
        limit: Int
    ) throws(StoreFailure) -> SubmissionPage {
        try submissions.listPending(app: app, after: cursor, limit: limit)
    }

    func figures() throws(StoreFailure) -> StoreFigures {
        try FigureQueries(connection: connection).read()
    }

    func refusalCounts(since hour: HourOfTime, limit: Int) throws(StoreFailure) -> [RefusalCount] {
        try refusals.counts(since: hour, limit: limit)
    }

    func refusalTotals(since hour: HourOfTime, limit: Int) throws(StoreFailure) -> [RefusalTotal] {
        try refusals.totals(since: hour, limit: limit)
    }

    func refusalSamples(limit: Int) throws(StoreFailure) -> [RefusalSample] {
        try refusals.samples(limit: limit)
    }

    func refusalSamples(of subject: RefusalSubject, limit: Int) throws(StoreFailure) -> [RefusalSample] {
        try refusals.samples(of: subject, limit: limit)
    }

    /// So many transactions make a long decision, whose rows fill pages upon pages.
    private static let longDecision = 100

    func apply(_ decision: Decision, evidence: EvidenceRow?) throws(StoreFailure) {
        if decision.changes.count >= Self.longDecision { try connection.saveMemory() }
        let decisions = DecisionQueries(connection: connection, apps: apps, versions: versions)
        try decisions.apply(decision, evidence: evidence)
        gathered.add(decision.figures)
        decision.note(in: &entitlementPlaces)
    }

    func keepPending(_ submission: PendingSubmission) throws(StoreFailure) -> (id: SubmissionID, isNew: Bool) {
        try submissions.keep(submission)
    }

    func settlePending(_ id: SubmissionID, as settlement: Settlement) throws(StoreFailure) -> Bool {
        try submissions.settle(id, as: settlement)
    }

    func notePending(_ id: SubmissionID, waitsFor reason: String) throws(StoreFailure) -> Bool {
        try submissions.note(id, waitsFor: reason)
    }

    func giveUpPending(
        olderThan age: Duration,
        at now: Timestamp,
        limit: Int
    ) throws(StoreFailure) -> [KeptSubmission] {
        try submissions.giveUp(olderThan: age, at: now, limit: limit)
    }

    func forgetSettled(olderThan age: Duration, at now: Timestamp, limit: Int) throws(StoreFailure) -> Int {
        try submissions.forget(settledFor: age, at: now, limit: limit)
    }

    func addRefusals(counts: [RefusalKey: Int], samples: [RefusalSample]) throws(StoreFailure) {
        try refusals.add(counts: counts, samples: samples)
    }
}
