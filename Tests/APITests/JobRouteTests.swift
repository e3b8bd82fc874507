import API
import Encoding
import HTTP
import Jobs
import Pipeline
import PurchaseModel
import Storage
import Testing

/// What was given up, and is asked for again; and how an app stands.
@Suite struct JobRouteTests {
    /// Adds a job and gives it up.
    static func bury(_ job: some Job, _ id: String, in store: any Store, at now: Timestamp) async throws {
        let new = NewJob(
            id: try #require(JobID("job_\(id)")),
            kind: type(of: job).kind,
            payload: job.payload,
            due: now,
            key: job.key,
            createdAt: now
        )
        try await store.write { write throws(StoreFailure) in
            _ = try write.enqueue(new)
        }
        try await giveUp(new.kind, in: store, at: now)
    }

    /// Gives up what waits, nine at most.
    private static func giveUp(_ kind: String, in store: any Store, at now: Timestamp) async throws {
        let terms = LeaseTerms(owner: LeaseOwner(checked: "w"), duration: .seconds(60), now: now)
        try await store.write { write throws(StoreFailure) in
            for row in try write.claimJobs(kinds: [kind], .sound(limit: 9), terms: terms).jobs {
                guard let hold = row.hold else { continue }
                _ = try write.finishJobs([FinishedJob(hold, as: .dead(because: "Apple said no"))], at: now)
            }
        }
    }

    /// The look at a subscription, which is named for its store.
    static func giveUpLook(at number: Int64, in environment: StoreEnvironment, _ house: TestHouse) async throws {
        let chain = ChainKey(
            app: try #require(AppID("demo")),
            realm: Realm(environment: environment, isTestSigned: true),
            original: try #require(TransactionID(number: number))
        )
        try await bury(SubscriptionLook(chain), environment.rawValue, in: house.store, at: house.clock.now)
    }

    private static func reading(_ number: Int64, of app: String) throws -> CustomerReading {
        CustomerReading(
            .history,
            of: TransactionKey(
                app: try #require(AppID(app)),
                realm: Realm(environment: .production, isTestSigned: false),
                id: try #require(TransactionID(number: number))
            )
        )
    }

    @Test func whatWasGivenUpIsListedPageByPageAndRunAgain() async throws {
        let store = MemoryStore()
        try await TestHouse(store: store).open { house in
            for number in Int64(1)...5 {
                // Between the app's own stand another's.
                let app = number == 2 ? "other" : "demo"
                let job = try Self.reading(number, of: app)
                try await Self.bury(job, "\(number)", in: store, at: house.clock.now.advanced(by: .seconds(number)))
            }
            var (ids, place) = ([String](), "")
            repeat {
                let page = try await house.get("/v1/jobs/dead", query: "limit=2\(place)").json()
                for job in page["jobs"]?.array.map(Array.init) ?? [] {
                    ids.append(job.object?["job_id"]?.string ?? "")
                    #expect(job.object?["reason"]?.string == "Apple said no")
                    #expect(job.object?["attempts"]?.int64 == 1)
                }
                place = page["next"]?.string.map { "&after=\($0)" } ?? ""
            } while !place.isEmpty
            #expect(ids == ["job_1", "job_3", "job_4", "job_5"])
            #expect(await house.change("/v1/jobs/job_2/retry").status == .notFound)
            let again = await house.change("/v1/jobs/job_3/retry")
            #expect(try again.json()["state"]?.string == "waiting")
            // It waits: it is no dead letter any more.
            #expect(await house.change("/v1/jobs/job_3/retry").status == .notFound)
            let queues = try await house.get("/v1/jobs").json()["queues"]?.array.map(Array.init) ?? []
            #expect(queues.map { $0.object?["waiting"]?.int64 } == [1])
            #expect(queues.map { $0.object?["dead"]?.int64 } == [4])
        }
    }

    @Test func allOfAKindRunAgainSaveWhatWaitsAlready() async throws {
        let store = MemoryStore()
        try await TestHouse(store: store).open { house in
            let now = house.clock.now
            for number in Int64(1)...3 {
                try await Self.bury(try Self.reading(number, of: "demo"), "\(number)", in: store, at: now)
            }
            try await Self.bury(try Self.reading(9, of: "other"), "9", in: store, at: now)
            let chain = ChainKey(
                app: try #require(AppID("demo")),
                realm: Realm(environment: .production, isTestSigned: false),
                original: try #require(TransactionID(number: 4))
            )
            try await Self.bury(SubscriptionLook(chain), "4", in: store, at: now)
            // Somebody has asked for the second anew.
            let random = JobQueue(store: store, clock: house.clock) { 7 }
            _ = try await random.enqueue(try Self.reading(2, of: "demo"))
            let one = await house.change("/v1/jobs/job_2/retry")
            #expect(one.status == .conflict)
            #expect(try one.json()["code"]?.string == "job_waits_already")
            let done = try await house.change("/v1/jobs/retry", #"{"kind": "customer.read"}"#).json()
            #expect(done["retried"]?.int64 == 2 && done["left"]?.int64 == 1)
            #expect(done["next"] == nil)
            let left = try await house.get("/v1/jobs/dead").json()["jobs"]?.array.map(Array.init) ?? []
            #expect(left.map { $0.object?["job_id"]?.string } == ["job_2", "job_4"])
            #expect(try await house.change("/v1/jobs/retry").json()["retried"]?.int64 == 1)
            #expect(await house.change("/v1/jobs/retry", #"{"kinds": "x"}"#).status == .badRequest)
        }
    }

    @Test func whoGoesOnToTheEndHasEachRunAgainOnce() async throws {
        let store = MemoryStore()
        try await TestHouse(store: store).open { house in
            for number in Int64(1)...601 {
                let died = house.clock.now.advanced(by: .seconds(number - 1_000))
                try await Self.bury(try Self.reading(number, of: "demo"), "\(number)", in: store, at: died)
            }
            let first = try await house.change("/v1/jobs/retry").json()
            let next = try #require(first["next"]?.string)
            #expect(first["retried"]?.int64 == 600 && next.hasPrefix("\(Self.died(600, house))-job_600."))
            // Those that have died again meanwhile would come round for ever.
            house.clock.advance(by: .seconds(1))
            try await Self.giveUp(CustomerReading.kind, in: store, at: house.clock.now)
            let second = try await house.change("/v1/jobs/retry", #"{"after": "\#(next)"}"#).json()
            #expect(second["retried"]?.int64 == 1 && second["next"] == nil)
            let left = try await house.get("/v1/jobs/dead").json()["jobs"]?.array.map(Array.init) ?? []
            #expect(left.map { $0.object?["job_id"]?.string } == (1...9).map { "job_\($0)" })
            // What a list of them names is a place to begin from.
            let listed = try await house.change("/v1/jobs/retry", #"{"after": "1-job_a"}"#).json()
            #expect(listed["retried"]?.int64 == 9)
            for other in ["1", "1-job_a.", "1-job_a.x", "1-job_a.1.1", ".1"] {
                #expect(
                    await house.change("/v1/jobs/retry", #"{"after": "\#(other)"}"#).status == .badRequest,
                    "\(other)"
                )
            }
        }
    }

    /// Where one answer ends may stand another app's: the place is told by the moment then.
    @Test func aPlaceNamesNothingOfOthers() async throws {
        let store = MemoryStore()
        try await TestHouse(store: store).open { house in
            for number in Int64(1)...601 {
                let died = house.clock.now.advanced(by: .seconds(number - 1_000))
                let app = number == 600 ? "other" : "demo"
                try await Self.bury(try Self.reading(number, of: app), "\(number)", in: store, at: died)
            }
            let first = try await house.change("/v1/jobs/retry").json()
            let next = try #require(first["next"]?.string)
            #expect(first["retried"]?.int64 == 599)
            #expect(next.hasPrefix("\(Self.died(600, house))-job_-."), "\(next)")
            let second = try await house.change("/v1/jobs/retry", #"{"after": "\#(next)"}"#).json()
            #expect(second["retried"]?.int64 == 1 && second["next"] == nil)
        }
    }

    /// When the job of this number died, in milliseconds.
    private static func died(_ number: Int64, _ house: TestHouse) -> Int64 {
        house.clock.now.advanced(by: .seconds(number - 1_000)).milliseconds
    }

    @Test func howAnAppStandsIsTold() async throws {
        try await TestHouse().open { house in
            let app = try await house.get("/v1/app").json()
            #expect(app["app_id"]?.string == "demo")
            #expect(app["submissions_waiting"]?.int64 == 0 && app["keys_in_force"]?.int64 == 0)
            #expect(app["has_app_store_key"]?.bool == true && app["history_at_first_proof"]?.bool == false)
            _ = await house.change("/v1/keys", #"{"name": "backend", "kind": "secret"}"#)
            _ = await house.change("/v1/webhooks", #"{"url": "https://shop.example/x"}"#)
            let then = try await house.get("/v1/app").json()
            #expect(then["keys_in_force"]?.int64 == 1)
            #expect(then["webhooks"]?.object?["enabled"]?.int64 == 1)
        }
    }
}
