import PurchaseModel

/// All that a memory store holds. A row's sequence number is its place, from 1.
struct MemoryLedger: Sendable {
    struct Entry: Sendable {
        var sequence: Int64
        var recorded: RecordedTransaction
        /// Places in ``MemoryLedger/evidence``.
        var firstEvidence: Int
        var latestEvidence: Int
        var fullerEvidence: Int?
    }

    var transactions: [TransactionKey: Entry] = [:]
    var evidence: [EvidenceRow] = []
    var submissions: [KeptSubmission] = []
    var submissionsForgotten = 0
    var submissionPlaces: [SubmissionName: Int] = [:]
    var refusals: [RefusalKey: Int] = [:]
    var samples: [RefusalSample] = []
    var orders: [OrderKey: Order] = [:]
    var tokens: [TokenKey: TokenOwner] = [:]
    var owners: [ChainKey: Owner] = [:]
    var vacancies: [ChainKey: Vacancy] = [:]
    /// By the chain in which they stand: of a transaction that was fulfilled in another one nothing is known here.
    var fulfilments: [ChainKey: [TransactionID: Fulfilment]] = [:]
    var subscriptions: [ChainKey: RecordedSubscription] = [:]
    var wallets: [WalletKey: Wallet] = [:]
    var postings: [WalletKey: [Posting]] = [:]
    var outbox = MemoryOutbox()
    var jobs: [JobID: MemoryJob] = [:]
    var jobsAdded: Int64 = 0
    var answers: [IdempotencyName: MemoryAnswer] = [:]
    var answersAdded: Int64 = 0
    var notifications: [NotificationKey: KeptNotification] = [:]
    var consumptions: [ConsumptionKey: ConsumptionRequest] = [:]
    var consents: [ConsentKey: Consent] = [:]
    var grantedEntitlements: [GrantedEntitlementKey: GrantedEntitlement] = [:]
    var audit: [MemoryAuditName: [AuditEntry]] = [:]
    var supportRequests: [MemorySupportName: SupportRequest] = [:]
    var notificationWatches: [MemoryWatchName: NotificationWatch] = [:]
    /// By their SHA-256.
    var certificates: [[UInt8]: SeenCertificate] = [:]
    var apiKeys: [APIKeyID: APIKeyRow] = [:]
    var imports: [ProofDigest: ImportProgress] = [:]
    /// Up to when their questions to Apple are planned.
    var importsAskUntil: [AppID: Timestamp] = [:]
    var admins = MemoryAdmins()
    var figures = FigureSums()
    var figureCorrections: [AppID: Int64] = [:]

    mutating func setSubmissions(_ all: [KeptSubmission]) {
        submissions = all
        submissionPlaces = Dictionary(
            uniqueKeysWithValues: all.enumerated().map { ($0.element.submission.name, $0.offset) }
        )
    }
}
