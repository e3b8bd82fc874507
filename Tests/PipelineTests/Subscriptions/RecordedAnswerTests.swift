import AppStore
import Encoding
import HTTP
import Jobs
import Pipeline
import PurchaseModel
import Storage
import TestSupport
import Testing
import Verification

/// What Apple once answered, through to the ledger: every purchase once, and each subscription as it ended.
@Suite("Recorded answers in the ledger", .enabled(if: Corpus.isPresent, Comment(rawValue: Corpus.absenceNote)))
struct RecordedAnswerTests {
    private static let answers = Corpus.isPresent ? (try? Corpus.files(in: "verify_receipt_responses")) ?? [] : []
    private static let now = Timestamp(seconds: 1_767_225_600)

    /// One entry of an answer, read here without any of ours.
    private struct Entry {
        let id: String
        let original: String
        let purchased: Int64
        let expires: Int64?
        let isRevoked: Bool

        init(_ entry: JSONObject) throws {
            func text(_ name: String) -> String? {
                entry[name].map { $0.string ?? String(decoding: $0.raw, as: UTF8.self) }
            }
            id = try #require(text("transaction_id"))
            original = try #require(text("original_transaction_id"))
            purchased = text("purchase_date_ms").flatMap { Int64($0) } ?? 0
            // An iOS 6 answer has the milliseconds under the plain name.
            expires = text("expires_date_ms").flatMap { Int64($0) } ?? text("expires_date").flatMap { Int64($0) }
            isRevoked = (text("cancellation_date_ms") ?? text("cancellation_date")).map { !$0.isEmpty } ?? false
        }
    }

    @Test(arguments: answers)
    func isRecordedOnceAndFoldedAsItSays(file: String) async throws {
        let body = try Corpus.bytes("verify_receipt_responses/" + file)
        let answer = try #require(try JSONDocument(body).root.object)
        let receipt = try #require(answer["receipt"]?.object)
        let app = try Self.app(try #require((receipt["bundle_id"] ?? receipt["bid"])?.string))
        let answered = try await Self.ask(body, isProduction: answer["environment"]?.string != "Sandbox", app)
        let recording = Recording(
            app: app.id,
            realm: Realm(environment: answered.store, isTestSigned: false),
            transactions: answered.transactions,
            renewals: answered.renewals.map(\.fact),
            terms: app.terms
        )
        let store = MemoryStore()
        for turn in 1...2 {
            let decision = try await Self.record(recording, answered.proof, in: store)
            #expect(decision.outcomes.allSatisfy { $0.isNew == (turn == 1) })
        }
        let entries = try Self.entries(answer, receipt)
        let chains = Dictionary(grouping: entries.values) { $0.original }
        let states = answer["pending_renewal_info"]?.array?.compactMap(\.object) ?? []
        for (original, entries) in chains.sorted(by: { $0.key < $1.key }) {
            let chain = ChainKey(
                app: app.id,
                realm: recording.realm,
                original: try #require(TransactionID(original))
            )
            let found = try await store.read { reader throws(StoreFailure) in
                let keys = recording.keys
                return (try reader.subscriptions([chain]).first, try reader.transactions(keys))
            }
            let recorded = found.1.filter { $0.transaction.originalID == chain.original }
            #expect(Set(recorded.map { "\($0.id)" }) == Set(entries.map(\.id)))
            #expect(recorded.count { $0.transaction.revocation != nil } == entries.count(where: \.isRevoked))
            let periods = entries.filter { !$0.isRevoked && $0.expires != nil }
            let last = periods.max { ($0.purchased, $0.expires ?? 0) < ($1.purchased, $1.expires ?? 0) }?.expires
            let renewal = states.first { $0["original_transaction_id"]?.string == original }
            guard last != nil || renewal != nil else {
                #expect(found.0 == nil)
                continue
            }
            let subscription = try #require(found.0)
            #expect(subscription.expiresAt?.milliseconds == last)
            #expect(subscription.state != .active && subscription.state != .unknown)
            if let renewal { #expect(subscription.willAutoRenew == (renewal["auto_renew_status"]?.string == "1")) }
        }
    }

    private static func app(_ bundleID: String) throws -> AppPolicy {
        AppPolicy(
            id: try #require(AppID("recorded")),
            bundleID: BundleID(checked: bundleID),
            environments: [.production, .sandbox],
            acceptsTestSigned: true
        )
    }

    private static func ask(_ body: [UInt8], isProduction: Bool, _ app: AppPolicy) async throws -> AnsweredReceipt {
        let caller = HTTPCaller { call async throws(HTTPCallFailure) in
            let isAsked = isProduction != call.url.contains("sandbox")
            return HTTPResponse(.ok, body: isAsked ? body : Array(#"{"status":21007}"#.utf8))
        }
        let call = VerifyReceiptCall(
            line: AppleLine(caller: caller, clock: ManualClock(now)),
            verifier: try PipelineHouse.verifier()
        )
        let result = await call.verify([1], of: AppCredentials(bundleID: app.bundleID))
        return try #require(result.receipt, "\(result)")
    }

    private static func record(
        _ recording: Recording,
        _ proof: Verified<Proof>,
        in store: MemoryStore
    ) async throws -> Decision {
        let recorder = Recorder(
            store: store,
            refusals: RefusalLedger(),
            clock: ManualClock(now),
            uptime: { .zero }
        ) { _ in }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await recorder.run() }
            defer { recorder.stop() }
            return try await recorder.record(
                recording,
                evidence: EvidenceRow(
                    digest: try #require(ProofDigest([UInt8](repeating: 7, count: 32))),
                    format: proof.fact.format.rawValue,
                    proof: proof.fact.bytes,
                    customer: nil,
                    receivedAt: now,
                    verdict: proof.verdict.rawValue
                )
            )
        }
    }

    /// By their ids: what stands in two places of an answer is one purchase.
    private static func entries(_ answer: JSONObject, _ receipt: JSONObject) throws -> [String: Entry] {
        var found: [String: Entry] = [:]
        let unified = answer["unified_receipt"]?.object
        for place in [
            receipt["in_app"], answer["latest_receipt_info"], answer["latest_expired_receipt_info"],
            unified?["latest_receipt_info"],
        ] {
            let objects = place?.array.map { $0.compactMap(\.object) } ?? place?.object.map { [$0] } ?? []
            for object in objects {
                let entry = try Entry(object)
                if entry.expires != nil || found[entry.id] == nil { found[entry.id] = entry }
            }
        }
        if receipt["bid"] != nil {
            let entry = try Entry(receipt)
            if found[entry.id] == nil { found[entry.id] = entry }
        }
        return found
    }
}
