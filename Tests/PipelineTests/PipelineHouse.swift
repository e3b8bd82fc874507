import Crypto
import Pipeline
import PurchaseModel
import Simulator
import Storage
import TestSupport
import Testing
import Verification

/// The pipeline over a watched store, with a clock that stands still and the shared test authority beside Apple.
struct PipelineHouse: Sendable {
    static let now = Timestamp(milliseconds: 1_763_600_000_000)

    /// How long what is undecided may wait.
    static let patience = Duration.seconds(1_000)

    let store: WatchedStore
    let pipeline: PurchasePipeline
    let recorder: Recorder
    let review: PendingReview
    let expiry: PendingExpiry
    let app: AppPolicy
    let otherApp: AppPolicy
    let clock = ManualClock(PipelineHouse.now)
    private let log = Noted<PipelineEvent>()

    init(
        store: WatchedStore = WatchedStore(),
        intermediates: [Certificate] = [],
        queuedMax: Int = 4_096,
        pendingPerApp: Int = 1_000,
        pendingBytesPerApp: Int = 1 << 24,
        pendingPerCustomer: Int = 1_000,
        acceptsTestSigned: Bool = true
    ) throws {
        self.store = store
        app = try PipelineHouse.app("game", acceptsTestSigned)
        otherApp = try PipelineHouse.app("other", acceptsTestSigned)
        let refusals = RefusalLedger()
        recorder = Recorder(
            store: store,
            refusals: refusals,
            clock: clock,
            uptime: { .zero },
            queuedMax: queuedMax
        ) { [log] in log.note($0) }
        pipeline = PurchasePipeline(
            verifier: try PipelineHouse.verifier(intermediates),
            recorder: recorder,
            store: store,
            refusals: refusals,
            clock: clock,
            limits: PipelineLimits(
                pendingPerApp: PendingLoad(submissions: pendingPerApp, bytes: pendingBytesPerApp),
                pendingPerCustomer: pendingPerCustomer
            )
        ) { [log] in log.note($0) }
        expiry = PendingExpiry(
            pipeline: pipeline,
            store: store,
            apps: [app, otherApp],
            clock: clock,
            patience: Self.patience
        ) { [log] in log.note($0) }
        review = PendingReview(pipeline: pipeline, store: store, apps: [app, otherApp], clock: clock)
    }

    static func verifier(_ intermediates: [Certificate] = []) throws -> Verifier {
        var anchors = try TrustAnchors.apple()
        for root in try TestAuthority.shared.roots() { anchors.addRoot(try Certificate(der: root)) }
        for certificate in intermediates { anchors.addIntermediate(certificate) }
        return Verifier(anchors: anchors, bytesMax: 1 << 20)
    }

    private static func app(_ id: String, _ acceptsTestSigned: Bool) throws -> AppPolicy {
        AppPolicy(
            id: try #require(AppID(id)),
            bundleID: TestAuthority.bundleID,
            environments: [.production, .sandbox],
            acceptsTestSigned: acceptsTestSigned
        )
    }

    /// Runs the recorder while the body submits; what is queued at its end is still committed.
    func open<Value: Sendable>(_ body: (PipelineHouse) async throws -> Value) async throws -> Value {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await recorder.run() }
            defer { recorder.stop() }
            return try await body(self)
        }
    }

    func submission(
        _ proof: [UInt8],
        customer: String = "ann",
        product: String? = nil,
        deviceID: [UInt8]? = nil,
        to app: AppPolicy? = nil
    ) throws -> Submission {
        Submission(
            app: app ?? self.app,
            bytes: proof,
            customer: CustomerID(customer),
            product: try product.map { try #require(ProductID($0)) },
            deviceID: deviceID
        )
    }

    func submit(
        _ proof: [UInt8],
        customer: String = "ann",
        product: String? = nil,
        deviceID: [UInt8]? = nil,
        to app: AppPolicy? = nil,
        isFromShop: Bool = true
    ) async throws -> Outcome {
        var submission = try submission(proof, customer: customer, product: product, deviceID: deviceID, to: app)
        submission.isFromShop = isFromShop
        return try await pipeline.submit(submission)
    }

    var events: [PipelineEvent] { log.values }

    /// How many submissions each commit had, in their order.
    var commits: [Int] {
        events.compactMap { event in
            guard case .committed(let submissions, _) = event else { return nil }
            return submissions
        }
    }

    /// Whether each refusal came from memory, in their order.
    var refusalsFromMemory: [Bool] {
        events.compactMap { event in
            guard case .refused(_, _, _, _, let isRepetition) = event else { return nil }
            return isRepetition
        }
    }

    var pendingEvents: Int {
        events.count { event in
            if case .pending = event { true } else { false }
        }
    }

    func figures() async throws -> StoreFigures {
        try await store.read { reader throws(StoreFailure) in try reader.figures() }
    }

    /// What the store knows of refusals: how many in all, and the samples, newest first.
    func refusals() async throws -> (count: Int, samples: [RefusalSample]) {
        try await store.read { reader throws(StoreFailure) in
            let counts = try reader.refusalCounts(since: HourOfTime(number: 0), limit: 500)
            return (counts.reduce(0) { $0 + $1.count }, try reader.refusalSamples(limit: 100))
        }
    }
}

extension Outcome {
    /// `recorded`, `known`, `nothing`, `pending`, `refused` with its public word, `busy`, `customer busy`.
    var word: String {
        switch self {
        case .recorded(let decision): decision.isRepetition ? "known" : "recorded"
        case .nothingToRecord: "nothing"
        case .pending: "pending"
        case .refused(let refused): "refused \(refused.publicReason ?? refused.verdict)"
        case .busy: "busy"
        case .customerBusy: "customer busy"
        }
    }

    var pendingID: SubmissionID? {
        guard case .pending(let id) = self else { return nil }
        return id
    }
}

/// Proofs that the shared authority signs.
enum Proofs {
    static func transaction(
        _ number: Int64,
        product: String = "coins",
        revokedAt: Timestamp? = nil,
        signedAt: Timestamp = PipelineHouse.now
    ) throws -> Transaction {
        let id = try #require(TransactionID(number: 2_000_000_000_000_000 + number))
        var transaction = Transaction(
            id: id,
            originalID: id,
            product: try #require(ProductID(product)),
            kind: .consumable,
            purchasedAt: PipelineHouse.now,
            signedAt: signedAt
        )
        transaction.originallyPurchasedAt = PipelineHouse.now
        transaction.ownership = .purchased
        transaction.revocation = revokedAt.map { Revocation(at: $0, reason: 1) }
        return transaction
    }

    static func jws(_ transaction: Transaction) throws -> [UInt8] {
        Array(try TestAuthority.signer().transaction(transaction).utf8)
    }

    static func jws(_ number: Int64, product: String = "coins") throws -> [UInt8] {
        try jws(transaction(number, product: product))
    }

    /// As texts of 2021 are: signed, and silent about the store.
    static func withoutStore(
        of bundleID: BundleID = TestAuthority.bundleID
    ) throws -> [(name: String, proof: [UInt8])] {
        let app = SimulatedApp(bundleID: bundleID, version: "42", environment: .sandbox)
        let signer = PurchaseSigner(TestAuthority.shared, app: app)
        let transaction = try transaction(7)
        let renewal = Renewal(originalID: transaction.id, product: transaction.product, signedAt: PipelineHouse.now)
        let download = AppDownload(bundleID: signer.app.bundleID, signedAt: PipelineHouse.now)
        let payloads: [(String, Payload, String)] = [
            ("renewal info", .renewal(renewal, of: signer.app), "environment"),
            ("app transaction", .appTransaction(download, of: signer.app), "receiptType"),
            ("transaction", .transaction(transaction, of: signer.app), "environment"),
        ]
        return try payloads.map { name, payload, store in
            var payload = payload
            payload[store] = nil
            return (name, Array(try signer.sign(payload).utf8))
        }
    }

    /// Nothing that anybody would take for a proof; each number another.
    static func garbage(_ number: Int) -> [UInt8] { Array("no proof \(number)".utf8) }
}
