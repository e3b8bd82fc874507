import Pipeline
import PurchaseModel
import Storage
import Testing

@testable import Server

/// What waits in a ledger, as Prometheus is told of it.
@Suite struct BacklogWatchTests {
    private static let app = AppID(checked: "shop")
    private static let now = Timestamp(seconds: 1_800_000_000)
    private static let hour = Duration.seconds(3_600)
    private static let endpoint = WebhookEndpointID(checked: "whe_1")

    private static func figures(_ store: any Store, closing: Bool = false) async -> [String: Double] {
        let clock = ManualClock(now)
        let (metrics, log) = (Metrics(), Log(clock: clock))
        defer { log.finish() }
        let reporter = Reporter(log: log, metrics: metrics)
        await BacklogWatch(store: store, apps: [app], clock: clock, reporter: reporter).run { false }
        if closing {
            await store.close()
            await BacklogWatch(store: store, apps: [app], clock: clock, reporter: reporter).run { false }
        }
        let exposition = Exposition(metrics.text())
        #expect(exposition.faults == [])
        return exposition.values.filter { series, _ in
            ["assay_pending", "assay_jobs", "assay_webhook", "assay_backlog"].contains { series.hasPrefix($0) }
        }
    }

    @Test func whatWaitsIsCountedWithItsAge() async throws {
        let store = MemoryStore()
        try await Self.fill(store)
        let endpoint = "{app=\"shop\",endpoint=\"whe_1\"}"
        #expect(
            await Self.figures(store)
                == [
                    "assay_pending_submissions{app=\"shop\"}": 2,
                    "assay_pending_oldest_seconds{app=\"shop\"}": 7_200,
                    "assay_jobs{kind=\"mail\",state=\"pending\"}": 2, "assay_jobs{kind=\"mail\",state=\"leased\"}": 0,
                    "assay_jobs{kind=\"mail\",state=\"suspect\"}": 0, "assay_jobs{kind=\"mail\",state=\"dead\"}": 1,
                    "assay_jobs_due{kind=\"mail\"}": 1, "assay_jobs_overdue_seconds{kind=\"mail\"}": 3_600,
                    "assay_webhook_undelivered\(endpoint)": 1,
                    "assay_webhook_oldest_seconds\(endpoint)": 3_600, "assay_webhook_dead_letters\(endpoint)": 0,
                    "assay_webhook_disabled\(endpoint)": 0,
                ].merging(Self.readable(1)) { $1 }
        )
    }

    /// By 410 its only message is dead, and of what happens then nothing waits for it: no other figure says so.
    @Test(arguments: [
        (WebhookEndpoint.byRequest, 0), (nil, 0), (DeliveryOutcome.goneReason, 1), (WebhookSchedule.hopeless, 1),
    ])
    func whoWasSwitchedOffIsToldThoughNothingWaits(reason: String?, told: Double) async throws {
        let store = MemoryStore()
        let row = try Self.row()
        try await store.write { write throws(StoreFailure) in
            var endpoint = row
            endpoint.disable(because: reason, at: Self.now, after: .start)
            try write.createEndpoint(endpoint)
            try write.append([Self.event])
        }
        let figures = await Self.figures(store)
        let labels = "{app=\"shop\",endpoint=\"whe_1\"}"
        #expect(figures["assay_webhook_disabled\(labels)"] == told)
        #expect(figures["assay_webhook_undelivered\(labels)"] == 0)
        // Whoever says that it is to stay so has heard of it, as has who enables it.
        for isEnabled in [false, true] {
            try await store.write { write throws(StoreFailure) in
                guard var endpoint = try write.endpoint(Self.endpoint) else { return }
                endpoint.setEnabled(isEnabled, at: Self.now, after: .start)
                _ = try write.updateEndpoint(endpoint)
            }
            #expect(await Self.figures(store)["assay_webhook_disabled\(labels)"] == 0)
        }
    }

    /// Where nothing waits that is said: an alert ends.
    @Test func anEmptyLedgerHasZerosAndAnUnreadableOneNothing() async {
        let zeros: [String: Double] = [
            "assay_pending_submissions{app=\"shop\"}": 0, "assay_pending_oldest_seconds{app=\"shop\"}": 0,
        ]
        #expect(await Self.figures(MemoryStore()) == zeros.merging(Self.readable(1)) { $1 })
        #expect(await Self.figures(MemoryStore(), closing: true) == Self.readable(0))
    }

    private static func readable(_ value: Double) -> [String: Double] {
        let parts = ["pending", "jobs", "webhooks"].map { ("assay_backlog_readable{part=\"\($0)\"}", value) }
        return Dictionary(uniqueKeysWithValues: parts)
    }

    /// A table that is damaged takes no other one's figures with it.
    @Test func aPartThatCannotBeReadIsUnknownAlone() async throws {
        try await ServerFolder.with { folder in
            let store = try SQLiteStore.open(folder: folder.path + "/ledger")
            try await Self.fill(store)
            let whole = await Self.figures(store)
            #expect(whole.count == 15)
            let script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('DROP TABLE jobs')"
            let run = try await Program.run(
                ["-c", script, "\(folder.path)/ledger/assay.sqlite"],
                instead: "/usr/bin/python3"
            )
            #expect(run.code == 0, "\(run.errorText)")
            let rest = await Self.figures(store)
            let jobs = "assay_backlog_readable{part=\"jobs\"}"
            #expect(rest == whole.filter { !$0.key.hasPrefix("assay_jobs") }.merging([jobs: 0]) { $1 })
            await store.close()
        }
    }

    private static func fill(_ store: some Store) async throws {
        let (long, short, later) = (hour * 2, hour, now.advanced(by: hour))
        let submissions = try [(long, SubmissionOrigin.presented), (short, .presented), (long * 9, .imported)]
            .enumerated().map { try submission(UInt8($0.offset), age: $0.element.0, $0.element.1) }
        let row = try row()
        try await store.write { write throws(StoreFailure) in
            for submission in submissions { _ = try write.keepPending(submission) }
            // The first is claimed and given up; of the others one is due.
            _ = try write.enqueue(job("dead", now.advanced(by: .zero - long)))
            let terms = LeaseTerms(owner: LeaseOwner(checked: "one"), duration: .seconds(30), now: now)
            let claim = try write.claimJobs(kinds: ["mail"], .sound(limit: 1), terms: terms)
            let ended = claim.jobs.compactMap(\.hold).map { FinishedJob($0, as: .dead(because: "no")) }
            _ = try write.finishJobs(ended, at: now)
            _ = try write.enqueue(job("due", now.advanced(by: .zero - hour)))
            _ = try write.enqueue(job("later", later))
            try write.createEndpoint(row)
            try write.append([event])
        }
    }

    private static let event = EventRow(
        id: EventID(checked: "evt_1"),
        app: app,
        realm: .init(environment: .production, isTestSigned: false),
        customer: nil,
        sequence: 1,
        type: "purchase.verified",
        happenedAt: now.advanced(by: .zero - hour * 2),
        learnedAt: now.advanced(by: .zero - hour),
        data: Array("{}".utf8)
    )

    private static func row() throws -> WebhookEndpoint {
        WebhookEndpoint(
            id: endpoint,
            app: app,
            url: "https://shop.example/hook",
            secrets: [try #require(WebhookSecret([UInt8](repeating: 7, count: 32)))],
            filter: EventFilter(realms: [event.realm]),
            concurrencyMax: 1,
            ordersPerCustomer: false,
            acknowledgesBy2xx: false,
            createdAt: now
        )
    }

    private static func job(_ name: String, _ due: Timestamp) -> NewJob {
        NewJob(id: JobID(checked: "job_\(name)"), kind: "mail", payload: [], due: due, createdAt: due)
    }

    private static func submission(
        _ seed: UInt8,
        age: Duration,
        _ origin: SubmissionOrigin
    ) throws -> PendingSubmission {
        PendingSubmission(
            id: try #require(SubmissionID([UInt8](repeating: seed, count: SubmissionID.byteCount))),
            app: app,
            digest: try #require(ProofDigest([UInt8](repeating: seed, count: 32))),
            format: "transaction_id",
            proof: [1],
            customer: nil,
            order: nil,
            reason: "only_an_id",
            receivedAt: now.advanced(by: .zero - age),
            origin: origin
        )
    }
}
