package import PurchaseModel
package import Storage

/// A write that hands every verb on as it is: what a planted bug changes a few verbs of.
package class PassingTransaction: StoreTransaction {
    package let base: any StoreTransaction

    package init(_ base: any StoreTransaction) { self.base = base }

    // MARK: Orders, what was given, whose it is

    package func fulfilments(_ chains: [ChainKey]) throws(StoreFailure) -> [Fulfilment] {
        try base.fulfilments(chains)
    }

    package func waitingFulfilments(for wish: WishKey, tokens: [AccountToken], limit: Int) throws(StoreFailure)
        -> [Fulfilment]
    {
        try base.waitingFulfilments(for: wish, tokens: tokens, limit: limit)
    }

    package func subscriptions(_ chains: [ChainKey]) throws(StoreFailure) -> [RecordedSubscription] {
        try base.subscriptions(chains)
    }

    package func dueSubscriptions(at now: Timestamp, limit: Int) throws(StoreFailure) -> [RecordedSubscription] {
        try base.dueSubscriptions(at: now, limit: limit)
    }

    package func dueSubscriptions(of app: AppID, at now: Timestamp, limit: Int) throws(StoreFailure)
        -> [RecordedSubscription]
    { try base.dueSubscriptions(of: app, at: now, limit: limit) }

    package func ownersAndVacancies(
        _ chains: [ChainKey]
    ) throws(StoreFailure) -> (owners: [Owner], vacancies: [Vacancy]) {
        try base.ownersAndVacancies(chains)
    }

    package func chains(app: AppID, customer: CustomerID) throws(StoreFailure) -> [ChainKey] {
        try base.chains(app: app, customer: customer)
    }

    package func hasBought(_ customer: CustomerID, app: AppID, realm: Realm) throws(StoreFailure) -> Bool {
        try base.hasBought(customer, app: app, realm: realm)
    }

    package func owners(of tokens: [TokenKey]) throws(StoreFailure) -> [TokenOwner] {
        try base.owners(of: tokens)
    }

    package func orders(_ keys: [OrderKey]) throws(StoreFailure) -> [Order] { try base.orders(keys) }

    package func openOrders(tokens: [TokenKey]) throws(StoreFailure) -> [Order] {
        try base.openOrders(tokens: tokens)
    }

    package func openOrders(wishes: [WishKey]) throws(StoreFailure) -> [Order] {
        try base.openOrders(wishes: wishes)
    }

    package func orders(app: AppID, customer: CustomerID?, after id: OrderID?, limit: Int) throws(StoreFailure)
        -> OrderPage
    {
        try base.orders(app: app, customer: customer, after: id, limit: limit)
    }

    package func orders(
        app: AppID,
        states: Set<OrderState>,
        placedSince moment: Timestamp,
        before cursor: OrderCursor?,
        limit: Int
    ) throws(StoreFailure) -> PlacedOrders {
        try base.orders(app: app, states: states, placedSince: moment, before: cursor, limit: limit)
    }

    package func overdueOrders(at now: Timestamp, limit: Int) throws(StoreFailure) -> [OrderKey] {
        try base.overdueOrders(at: now, limit: limit)
    }

    package func wallets(_ keys: [WalletKey]) throws(StoreFailure) -> [Wallet] {
        try base.wallets(keys)
    }

    package func wallets(app: AppID, customer: CustomerID) throws(StoreFailure) -> [Wallet] {
        try base.wallets(app: app, customer: customer)
    }

    package func grantedEntitlements(_ keys: [GrantedEntitlementKey]) throws(StoreFailure) -> [GrantedEntitlement] {
        try base.grantedEntitlements(keys)
    }

    package func grantedEntitlements(app: AppID, customer: CustomerID) throws(StoreFailure) -> [GrantedEntitlement] {
        try base.grantedEntitlements(app: app, customer: customer)
    }

    package func postings(_ wallet: WalletKey, before number: Int64?, limit: Int) throws(StoreFailure) -> [Posting] {
        try base.postings(wallet, before: number, limit: limit)
    }

    // MARK: Events

    package func event(app: AppID, id: EventID) throws(StoreFailure) -> PlacedEvent? {
        try base.event(app: app, id: id)
    }

    package func lastEventSequences(_ streams: [StreamKey]) throws(StoreFailure) -> [StreamKey: Int64] {
        try base.lastEventSequences(streams)
    }

    package func lastEventCursor(app: AppID) throws(StoreFailure) -> EventCursor {
        try base.lastEventCursor(app: app)
    }

    package func events(app: AppID, after cursor: EventCursor, where filter: EventFilter, limit: Int)
        throws(StoreFailure) -> EventPage
    {
        try base.events(app: app, after: cursor, where: filter, limit: limit)
    }

    package func append(_ events: [EventRow]) throws(StoreFailure) {
        try base.append(events)
    }

    // MARK: Webhooks

    package func endpoint(_ id: WebhookEndpointID) throws(StoreFailure) -> WebhookEndpoint? {
        try base.endpoint(id)
    }

    package func endpoints(app: AppID) throws(StoreFailure) -> [WebhookEndpoint] {
        try base.endpoints(app: app)
    }

    package func dueEndpoints(at now: Timestamp, limit: Int) throws(StoreFailure) -> [DueEndpoint] {
        try base.dueEndpoints(at: now, limit: limit)
    }

    package func nextDeliveryDue() throws(StoreFailure) -> Timestamp? {
        try base.nextDeliveryDue()
    }

    package func delivery(_ id: WebhookDeliveryID) throws(StoreFailure) -> WebhookDelivery? {
        try base.delivery(id)
    }

    package func deliveries(endpoint: WebhookEndpointID, state: DeliveryState?, before cursor: EventCursor?, limit: Int)
        throws(StoreFailure) -> WebhookDeliveryPage
    {
        try base.deliveries(endpoint: endpoint, state: state, before: cursor, limit: limit)
    }

    package func attempts(of id: WebhookDeliveryID, limit: Int) throws(StoreFailure) -> [WebhookAttempt] {
        try base.attempts(of: id, limit: limit)
    }

    package func storeTime(_ callers: Timestamp) throws(StoreFailure) -> Timestamp {
        try base.storeTime(callers)
    }

    package func endpointsToBury(limit: Int) throws(StoreFailure) -> [WebhookEndpointID] {
        try base.endpointsToBury(limit: limit)
    }

    package func awaitedEvents(app: AppID, among places: [EventCursor]) throws(StoreFailure) -> Set<EventCursor> {
        try base.awaitedEvents(app: app, among: places)
    }

    package func webhookFigures(
        _ id: WebhookEndpointID,
        countingTo limit: Int
    ) throws(StoreFailure) -> WebhookFigures? {
        try base.webhookFigures(id, countingTo: limit)
    }

    package func holdEndpoints(app: AppID) throws(StoreFailure) -> [WebhookEndpoint] {
        try base.holdEndpoints(app: app)
    }

    package func createEndpoint(_ endpoint: WebhookEndpoint) throws(StoreFailure) {
        try base.createEndpoint(endpoint)
    }

    package func updateEndpoint(_ endpoint: WebhookEndpoint) throws(StoreFailure) -> Int64 {
        try base.updateEndpoint(endpoint)
    }

    package func moveGap(of endpoint: WebhookEndpointID, to place: EventCursor) throws(StoreFailure) {
        try base.moveGap(of: endpoint, to: place)
    }

    package func deleteEndpoint(_ id: WebhookEndpointID, version: Int64) throws(StoreFailure) {
        try base.deleteEndpoint(id, version: version)
    }

    package func buryDeliveries(endpoint: WebhookEndpointID, because reason: String, at now: Timestamp, limit: Int)
        throws(StoreFailure) -> [PlacedEvent]
    {
        try base.buryDeliveries(endpoint: endpoint, because: reason, at: now, limit: limit)
    }

    package func claimDeliveries(endpoint: WebhookEndpointID, limit: Int, terms: LeaseTerms) throws(StoreFailure)
        -> DeliveryBatch?
    {
        try base.claimDeliveries(endpoint: endpoint, limit: limit, terms: terms)
    }

    package func renewDeliveries(_ holds: [DeliveryHold], terms: LeaseTerms) throws(StoreFailure) -> [DeliveryHold] {
        try base.renewDeliveries(holds, terms: terms)
    }

    package func finishDeliveries(_ finished: [FinishedDelivery], at now: Timestamp) throws(StoreFailure) -> [Bool] {
        try base.finishDeliveries(finished, at: now)
    }

    package func replayDelivery(_ id: WebhookDeliveryID, at now: Timestamp) throws(StoreFailure) -> Bool {
        try base.replayDelivery(id, at: now)
    }

    package func replayDeliveries(
        _ replay: WebhookReplay,
        endpoint: WebhookEndpointID,
        after cursor: EventCursor,
        limit: Int,
        at now: Timestamp
    ) throws(StoreFailure) -> WebhookReplayStep {
        try base.replayDeliveries(replay, endpoint: endpoint, after: cursor, limit: limit, at: now)
    }

    // MARK: Jobs

    package func job(_ id: JobID) throws(StoreFailure) -> JobRow? {
        try base.job(id)
    }

    package func hasDueJobs(kinds: Set<String>, at now: Timestamp) throws(StoreFailure) -> Bool {
        try base.hasDueJobs(kinds: kinds, at: now)
    }

    package func openJobs(kind: String, keys: [String]) throws(StoreFailure) -> Set<String> {
        try base.openJobs(kind: kind, keys: keys)
    }

    package func deadLetters(after cursor: DeadLetterCursor?, limit: Int) throws(StoreFailure) -> DeadLetterPage {
        try base.deadLetters(after: cursor, limit: limit)
    }

    package func jobFigures() throws(StoreFailure) -> [JobFigures] {
        try base.jobFigures()
    }

    package func jobBacklogs(at now: Timestamp, countingTo limit: Int) throws(StoreFailure) -> [JobBacklog] {
        try base.jobBacklogs(at: now, countingTo: limit)
    }

    package func enqueue(_ job: NewJob) throws(StoreFailure) -> (id: JobID, isNew: Bool) {
        try base.enqueue(job)
    }

    package func claimJobs(kinds: Set<String>, _ selection: JobSelection, terms: LeaseTerms) throws(StoreFailure)
        -> JobClaim
    {
        try base.claimJobs(kinds: kinds, selection, terms: terms)
    }

    package func renewJobs(_ holds: [JobHold], terms: LeaseTerms) throws(StoreFailure) -> [JobHold] {
        try base.renewJobs(holds, terms: terms)
    }

    package func finishJobs(_ finished: [FinishedJob], at now: Timestamp) throws(StoreFailure) -> [Bool] {
        try base.finishJobs(finished, at: now)
    }

    package func reviveJob(_ id: JobID, at now: Timestamp) throws(StoreFailure) -> Bool {
        try base.reviveJob(id, at: now)
    }

    package func hasten(by lead: ClockLead, from place: HastePlace, limit: Int) throws(StoreFailure) -> HasteStep {
        try base.hasten(by: lead, from: place, limit: limit)
    }

    package func holdJob(_ id: JobID) throws(StoreFailure) -> Bool {
        try base.holdJob(id)
    }

    package func hastenJob(_ id: JobID, at now: Timestamp) throws(StoreFailure) -> Bool {
        try base.hastenJob(id, at: now)
    }

    // MARK: Kept answers

    package func keptAnswer(_ name: IdempotencyName) throws(StoreFailure) -> KeptAnswer? {
        try base.keptAnswer(name)
    }

    package func keepAnswer(_ answer: KeptAnswer) throws(StoreFailure) {
        try base.keepAnswer(answer)
    }

    package func sweepAnswers(olderThan age: Duration, at now: Timestamp, limit: Int) throws(StoreFailure) -> Int {
        try base.sweepAnswers(olderThan: age, at: now, limit: limit)
    }

    // MARK: Transactions and proofs

    package func transactions(_ keys: [TransactionKey]) throws(StoreFailure) -> [RecordedTransaction] {
        try base.transactions(keys)
    }

    package func transactions(app: AppID, id: TransactionID) throws(StoreFailure) -> [RecordedTransaction] {
        try base.transactions(app: app, id: id)
    }

    package func evidence(of key: TransactionKey) throws(StoreFailure) -> EvidenceRow? {
        try base.evidence(of: key)
    }

    package func latestEvidence(of key: TransactionKey) throws(StoreFailure) -> EvidenceRow? {
        try base.latestEvidence(of: key)
    }

    package func fullerEvidence(of key: TransactionKey) throws(StoreFailure) -> EvidenceRow? {
        try base.fullerEvidence(of: key)
    }

    package func submission(_ id: SubmissionID) throws(StoreFailure) -> KeptSubmission? {
        try base.submission(id)
    }

    package func submission(alike: PendingSubmission) throws(StoreFailure) -> SubmissionID? {
        try base.submission(alike: alike)
    }

    package func refusals(of names: [SubmissionName], since moment: Timestamp) throws(StoreFailure)
        -> [SubmissionName: Settlement]
    {
        try base.refusals(of: names, since: moment)
    }

    package func pendingLoad(app: AppID) throws(StoreFailure) -> PendingLoad {
        try base.pendingLoad(app: app)
    }

    package func pendingBacklogs() throws(StoreFailure) -> [PendingBacklog] { try base.pendingBacklogs() }

    package func pendingCount(app: AppID, customer: CustomerID, limit: Int) throws(StoreFailure) -> Int {
        try base.pendingCount(app: app, customer: customer, limit: limit)
    }

    package func pendingSubmissions(app: AppID?, after cursor: SubmissionCursor?, limit: Int) throws(StoreFailure)
        -> SubmissionPage
    {
        try base.pendingSubmissions(app: app, after: cursor, limit: limit)
    }

    package func figures() throws(StoreFailure) -> StoreFigures { try base.figures() }

    package func apply(_ decision: Decision, evidence: EvidenceRow?) throws(StoreFailure) {
        try base.apply(decision, evidence: evidence)
    }

    package func keepPending(_ submission: PendingSubmission) throws(StoreFailure) -> (id: SubmissionID, isNew: Bool) {
        try base.keepPending(submission)
    }

    package func settlePending(_ id: SubmissionID, as settlement: Settlement) throws(StoreFailure) -> Bool {
        try base.settlePending(id, as: settlement)
    }

    package func notePending(_ id: SubmissionID, waitsFor reason: String) throws(StoreFailure) -> Bool {
        try base.notePending(id, waitsFor: reason)
    }

    package func giveUpPending(olderThan age: Duration, at now: Timestamp, limit: Int) throws(StoreFailure)
        -> [KeptSubmission]
    {
        try base.giveUpPending(olderThan: age, at: now, limit: limit)
    }

    package func forgetSettled(olderThan age: Duration, at now: Timestamp, limit: Int) throws(StoreFailure) -> Int {
        try base.forgetSettled(olderThan: age, at: now, limit: limit)
    }
}
