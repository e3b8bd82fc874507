import Foundation
import HTTP
import PurchaseModel
import Simulator
import TestSupport
import Testing
import Verification

/// The simulated App Store is asked how its subscriptions stand, and so are the rules that have seen nothing but what it
/// signed, in any order and any number of times. A red seed is a name to run again.
///
/// `ASSAY_LIVES=1000` lets a thousand customers live; the ordinary run has a hundred.
@Suite struct SubscriptionOracleTests {
    private static let inStore = 10
    static let seeds: Range<UInt64> = {
        let lives = ProcessInfo.processInfo.environment["ASSAY_LIVES"].flatMap { Int($0) } ?? 100
        return 1..<UInt64(max(1, lives / inStore)) + 1
    }()

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Examples/stories")
    static let stories: [String] =
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? [])
        .filter { $0.hasSuffix(".json") }.sorted()

    private static func app() -> StoreApp {
        var app = DemoCatalogue.app()
        app.productionNotifications = NotificationTarget(url: "https://shop.example/apple")
        app.sandboxNotifications = app.productionNotifications
        return app
    }

    /// Two years, stopped at twenty moments; at each, what was signed until then, shuffled and in part repeated.
    @Test(arguments: seeds)
    func livesStandAsTheStoreSays(seed: UInt64) throws {
        let start = Timestamp(seconds: 1_704_067_200)
        var store = SimulatedStore(startingAt: start, seed: seed)
        store.set(Self.app())
        var random = SeededRandom(seed: seed)
        var population = Population(in: store, app: DemoCatalogue.bundleID, count: Self.inStore, seed: seed)
        let days = (0..<20).map { _ in Int64.random(in: 1...730, using: &random) }.sorted() + [731]
        var compared = 0
        for day in days {
            let jitter = Int64.random(in: 0..<86_400_000, using: &random)
            population.live(until: start.advanced(by: .milliseconds(day * 86_400_000 + jitter)))
            let truth = AppleTruth(store: population.store)
            let facts = truth.facts()
            let again = (0..<facts.count * 3 / 10).compactMap { _ in facts.randomElement(using: &random) }
            var ledger = try SubscriptionLedger()
            for fact in (facts + again).shuffled(using: &random) { ledger.record(fact, at: population.store.now) }
            try truth.compare(ledger, isTestSigned: false, "seed \(seed), day \(day)")
            compared += population.store.lines.count
        }
        #expect(compared > 50)
    }

    /// Through the signatures: each notification as it is sent, proved and recorded.
    @Test("ends as the store says", arguments: stories)
    func storiesEndAsTheStoreSays(name: String) async throws {
        let story = try Story([UInt8](Data(contentsOf: Self.folder.appending(path: name))))
        var teller = StoryTeller(story, app: Self.app())
        #expect(try teller.tell(story) == [])
        let store = teller.store
        let truth = AppleTruth(store: store)
        let proofs = try await Self.proofs(of: store)
        #expect(
            proofs.count { !$0.transactions.isEmpty }
                == store.notices.count { notice in
                    if case .purchase = notice.subject { true } else { false }
                }
        )
        for seed in UInt64(0)..<5 {
            var random = SeededRandom(seed: seed)
            var ledger = try SubscriptionLedger()
            let again = proofs.filter { _ in UInt64.random(in: 0..<3, using: &random) == 0 }
            for proof in (proofs + again).shuffled(using: &random) {
                let environment = try #require(proof.claims.environment)
                let realm = Realm(environment: environment, isTestSigned: true)
                ledger.record(proof.transactions, [proof.claims.renewal].compactMap(\.self), realm, at: store.now)
            }
            try truth.compare(ledger, isTestSigned: true, "\(name), seed \(seed)")
        }
    }

    private static func proofs(of store: SimulatedStore) async throws -> [Proof] {
        let simulator = AppStoreSimulator(store, authority: TestAuthority.shared, wallClock: ManualClock(store.now))
        let sender = try NoticeSender(simulator, caller: HTTPCaller(handler: HTTPHandler { _ in HTTPResponse(.ok) }))
        await sender.deliverDue()
        let verifier = try PipelineHouse.verifier()
        var proofs: [Proof] = []
        for environment in [StoreEnvironment.production, .sandbox] {
            let expecting = Expectation(
                bundleID: DemoCatalogue.bundleID,
                appleID: environment == .production ? DemoCatalogue.appleID : nil,
                environments: [environment]
            )
            for sent in sender.sentNotices.all(DemoCatalogue.bundleID, environment) {
                let examination = verifier.examine(Array(sent.signedPayload.utf8), expecting: expecting)
                proofs.append(try #require(examination.proof, "\(examination.report.detail ?? "")").fact)
            }
        }
        return proofs
    }
}
