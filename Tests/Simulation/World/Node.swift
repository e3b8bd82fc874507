import API
import Crypto
import HTTP
import Pipeline
import PurchaseModel
import Simulator
import Storage
import TestSupport
import Verification

/// One process of the server: all its parts, made anew over the store that outlives it.
final class Node: Sendable {
    let number: Int
    let recorder: Recorder
    let sender: WebhookSender
    let housekeeping: Housekeeping
    private let disk: Disk
    private let router: Router
    private let pipeline: PurchasePipeline
    private let policy: AppPolicy
    private let clock: ManualClock

    private static let verifier = Result {
        var anchors = try TrustAnchors.apple()
        // Receipts have another root, whose key takes long to make; nobody sends any here.
        anchors.addRoot(try TestAuthority.shared.identity(.jwsRoot).certificate)
        return Verifier(anchors: anchors, bytesMax: 1 << 20)
    }

    init(_ number: Int, disk: Disk, policy: AppPolicy, clock: ManualClock, shop: HTTPCaller) throws {
        self.number = number
        self.disk = disk
        self.policy = policy
        self.clock = clock
        let refusals = RefusalLedger()
        recorder = Recorder(store: disk, refusals: refusals, clock: clock, uptime: { .zero }) { _ in }
        pipeline = PurchasePipeline(
            verifier: try Self.verifier.get(),
            recorder: recorder,
            store: disk,
            refusals: refusals,
            clock: clock
        ) { _ in }
        housekeeping = Housekeeping(store: disk, clock: clock)
        let holder = KeyRing.Holder(name: "shop", app: policy.id)
        router = routes(
            APIParts(
                pipeline: pipeline,
                notifications: NotificationIntake(
                    verifier: try Self.verifier.get(),
                    recorder: recorder,
                    store: disk,
                    refusals: refusals,
                    clock: clock
                ) { _ in },
                store: disk,
                apps: [policy],
                keys: KeyRing([Digest.sha256(Array(Trade.key.utf8)): APIKey(holder)]),
                clock: clock,
                metrics: { "" }
            )
        )
        sender = WebhookSender(
            work: StoredWebhookWork(disk),
            post: WebhookPost(caller: shop, clock: clock, rule: EgressRule()),
            clock: clock,
            owner: LeaseOwner(checked: "node-\(number)")
        ) { _ in }
    }

    var isDead: Bool { disk.isCut }

    /// Ends the process: what it holds in memory reaches nobody any more.
    func end() {
        disk.end()
        recorder.stop()
        sender.stop()
    }

    /// - Returns: nil when the process ended before its answer left it.
    func respond(to request: HTTPRequest) async -> HTTPResponse? {
        guard !isDead else { return nil }
        let response = await router.respond(to: request)
        return isDead ? nil : response
    }

    /// Records what Apple tells by itself, of which nobody says whose it is.
    ///
    /// - Returns: the recorded transactions; nil when nothing is known to be recorded.
    func take(notification text: String) async -> [RecordedTransaction]? {
        guard !isDead, let verifier = try? Self.verifier.get() else { return nil }
        let expected = Expectation(
            bundleID: policy.bundleID,
            appleID: policy.appleID,
            environments: policy.environments,
            refusesEarly: true
        )
        let bytes = Array(text.utf8)
        guard let proof = verifier.examine(bytes, expecting: expected).proof else { return nil }
        guard let environment = proof.fact.claims.environment, !proof.fact.transactions.isEmpty else { return [] }
        let recording = Recording(
            app: policy.id,
            realm: Realm(environment: environment, isTestSigned: proof.provenance.vouchedBy.isTest),
            transactions: proof.fact.transactions,
            terms: policy.terms
        )
        guard let digest = ProofDigest(Digest.sha256(bytes)) else { return nil }
        let evidence = EvidenceRow(
            digest: digest,
            format: proof.fact.format.rawValue,
            proof: bytes,
            customer: nil,
            receivedAt: clock.now,
            verdict: proof.verdict.rawValue
        )
        guard let decision = try? await recorder.record(recording, evidence: evidence), !isDead else { return nil }
        return decision.outcomes.map(\.recorded)
    }
}
