import AppStore
package import Jobs
package import PurchaseModel
package import Storage
import Verification

/// The job that reads once what Apple has on record of one customer, by any of her transactions: a page of it, and then a
/// job for the next, so that whatever comes in between costs no page twice.
package struct CustomerReading: Job, Hashable {
    package static let kind = "customer.read"

    /// What is read of her.
    package enum Subject: String, Sendable, CaseIterable {
        /// What Apple took back, by Get Refund History: for apps that no notification told of it.
        case refunds
        /// What she bought, by Get Transaction History.
        case history
    }

    /// A page that is not the first.
    package struct Place: Hashable, Sendable {
        /// From 2.
        package let page: Int
        /// What Apple gave with the page before.
        package let revision: String

        package init(page: Int, revision: String) {
            self.page = page
            self.revision = revision
        }
    }

    package let subject: Subject
    package let transaction: TransactionKey
    /// Where to go on; `nil` begins.
    package let place: Place?
    /// How often it was begun anew, because Apple took its own revision no more.
    package let restarts: Int

    package init(_ subject: Subject, of transaction: TransactionKey, at place: Place? = nil, restarts: Int = 0) {
        self.subject = subject
        self.transaction = transaction
        self.place = place
        self.restarts = restarts
    }

    package init?(payload: [UInt8]) {
        let parts = payload.split(separator: UInt8(ascii: " "), maxSplits: 4).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard (3...5).contains(parts.count), let subject = Subject(rawValue: parts[0]),
            let (id, realm) = SidedNumber.read(Array(parts[1].utf8)[...]), let app = AppID(parts[2])
        else { return nil }
        let counts = parts.dropFirst(3).first?.split(separator: "/").map { Int($0) } ?? [1]
        guard (1...2).contains(counts.count), let page = counts[0], let restarts = counts.count == 2 ? counts[1] : 0,
            (page > 1) == (parts.count == 5), restarts >= 0
        else { return nil }
        self.init(
            subject,
            of: TransactionKey(app: app, realm: realm, id: id),
            at: parts.count == 5 ? Place(page: page, revision: parts[4]) : nil,
            restarts: restarts
        )
    }

    package var payload: [UInt8] {
        let counts = "\(place?.page ?? 1)" + (restarts == 0 ? "" : "/\(restarts)")
        let rest = place.map { " \(counts) \($0.revision)" } ?? (restarts == 0 ? "" : " \(counts)")
        return Array((first + rest).utf8)
    }

    package var key: String? { name }

    /// An app's id has no space in it. The revision is not part of it: nobody has said how long one may be.
    private var name: String { place.map { "\(first) \($0.page)" } ?? first }

    private var first: String {
        "\(subject.rawValue) \(SidedNumber.text(transaction.id, transaction.realm)) \(transaction.app)"
    }
}

extension RefundQueue {
    /// Into these jobs.
    package init(_ queue: JobQueue) {
        self.init { key, write throws(StoreFailure) in try queue.hasten(CustomerReading(.refunds, of: key), in: write) }
    }
}

/// Reads what Apple has on record of customers.
///
/// What is known follows what Apple says now: a refund is compensated. What nobody has presented is recorded, and waits in
/// silence for whoever presents it.
package struct CustomerReader: Sendable {
    package static let schedule = RetrySchedule(first: .seconds(60), longest: .seconds(3_600), attemptsMax: .max)
    /// A customer with a hundred thousand purchases is none.
    private static let pagesMax = 5_000
    /// How often a number may be unknown: in the sandbox it is for the first seconds.
    private static let unknownMax = 4
    /// How often it is begun anew before somebody has to look.
    private static let restartsMax = 5
    /// When to begin again after Apple took no revision.
    private static let untilAnew = Duration.seconds(3_600)

    private let recorder: Recorder
    private let store: any Store
    private let queue: JobQueue
    private let accounts: [AppID: AppleAccount]
    private let clock: any WallClock

    package init(
        recorder: Recorder,
        store: any Store,
        queue: JobQueue,
        accounts: [AppID: AppleAccount],
        clock: any WallClock
    ) {
        self.recorder = recorder
        self.store = store
        self.queue = queue
        self.accounts = accounts
        self.clock = clock
    }

    package var handler: JobHandler {
        JobHandler(CustomerReading.self, schedule: Self.schedule) { job, run in await read(job, run) }
    }

    private func read(_ job: CustomerReading, _ run: JobRun) async -> JobOutcome {
        let (key, environment) = (job.transaction, job.transaction.realm.environment)
        guard let account = accounts[key.app], account.isTest == key.realm.isTestSigned,
            account.askableStores.contains(environment)
        else {
            return await withoutKey(key.app, environment, since: run.due)
        }
        let page: HistoryPage?
        do throws(AppStoreFailure) {
            page = try await self.page(job, account.server)
        } catch {
            if error == .refused(.transactionNotFound), run.attempt < Self.unknownMax {
                return .failed(because: "Apple: \(error)")
            }
            if job.place != nil, error == .refused(.invalidRevision) { return await beginAnew(job) }
            return AppleTrouble.outcome(ofNumber: error, at: clock.now) ?? .done
        }
        guard let page else { return .done }
        do throws(StoreFailure) {
            for proof in page.transactions { try await record(proof, account.app) }
            return try await goOn(job, after: page)
        } catch {
            return .failed(because: "the store: \(error)")
        }
    }

    /// Nothing else asks for this. As long as a server asks about the app, or did not long ago, one with the key is waited for
    /// until Apple's history has gone by; where none ever had one, for a day.
    private func withoutKey(
        _ app: AppID,
        _ environment: StoreEnvironment,
        since due: Timestamp
    ) async -> JobOutcome {
        do throws(StoreFailure) {
            let isAsked = try await store.read { reader throws(StoreFailure) in
                try reader.isAskedAbout(app, in: [environment])
            }
            let patience = isAsked ? NotificationComparer.depth(of: environment) : .seconds(86_400)
            return AppleTrouble.withoutKey(since: due, within: patience, at: clock.now) ?? .done
        } catch {
            return .failed(because: "the store: \(error)")
        }
    }

    private func page(
        _ job: CustomerReading,
        _ server: AppStoreServerClient
    ) async throws(AppStoreFailure) -> HistoryPage? {
        let (id, store, revision) = (job.transaction.id, job.transaction.realm.environment, job.place?.revision)
        let pages =
            switch job.subject {
            case .refunds: server.refunds(ofAny: id, after: revision, in: store)
            case .history:
                server.history(ofAny: id, since: Timestamp(milliseconds: 0), after: revision, in: store)
            }
        var iterator = pages.makeAsyncIterator()
        return try await iterator.next()
    }

    /// The page is on disk: what follows is another job's.
    private func goOn(_ job: CustomerReading, after page: HistoryPage) async throws(StoreFailure) -> JobOutcome {
        guard page.hasMore, let revision = page.revision else { return .done }
        let number = (job.place?.page ?? 1) + 1
        guard number <= Self.pagesMax else { return .never(because: "Apple's listing does not end") }
        let place = CustomerReading.Place(page: number, revision: revision)
        // An earlier reading may be at that page at this moment, with an answer from before this one's.
        try await queue.hasten(
            CustomerReading(job.subject, of: job.transaction, at: place, restarts: job.restarts)
        )
        return .done
    }

    private func beginAnew(_ job: CustomerReading) async -> JobOutcome {
        guard job.restarts < Self.restartsMax else {
            return .never(because: "Apple takes none of its own revisions")
        }
        let due = clock.now.advanced(by: Self.untilAnew)
        let anew = CustomerReading(job.subject, of: job.transaction, restarts: job.restarts + 1)
        do throws(StoreFailure) {
            try await queue.enqueue(anew, due: due)
            return .done
        } catch {
            return .failed(because: "the store: \(error)")
        }
    }

    private func record(_ proof: Verified<Proof>, _ app: AppPolicy) async throws(StoreFailure) {
        guard let realm = app.realm(of: proof) else { return }
        var recording = proof.recording(for: app, in: realm)
        recording.source = .history
        do throws(StoreFailure) {
            _ = try await recorder.record(recording, evidence: proof.evidence(at: clock.now))
        } catch .unstorable {
            // A text in it that no row can hold: it will never be another.
            return
        }
    }
}
