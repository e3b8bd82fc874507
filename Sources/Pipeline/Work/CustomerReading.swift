import AppStore
package import Jobs
package import PurchaseModel
import Storage
import Verification

/// The job that reads once what Apple has on record of one customer, by any of her transactions.
package struct CustomerReading: Job, Hashable {
    package static let kind = "customer.read"

    /// What is read of her.
    package enum Subject: String, Sendable, CaseIterable {
        /// What Apple took back, by Get Refund History: for apps that no notification told of it.
        case refunds
        /// What she bought, by Get Transaction History.
        case history
    }

    package let subject: Subject
    package let transaction: TransactionKey

    package init(_ subject: Subject, of transaction: TransactionKey) {
        self.subject = subject
        self.transaction = transaction
    }

    package init?(payload: [UInt8]) {
        let parts = payload.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard parts.count == 3, let subject = Subject(rawValue: String(decoding: parts[0], as: UTF8.self)),
            let (id, realm) = SidedNumber.read(parts[1]), let app = AppID(String(decoding: parts[2], as: UTF8.self))
        else { return nil }
        self.init(subject, of: TransactionKey(app: app, realm: realm, id: id))
    }

    package var payload: [UInt8] { Array(name.utf8) }

    package var key: String? { name }

    private var name: String {
        "\(subject.rawValue) \(SidedNumber.text(transaction.id, transaction.realm)) \(transaction.app)"
    }
}

/// Reads what Apple has on record of customers.
///
/// What is known follows what Apple says now: a refund is compensated. What nobody has presented is recorded, and waits in
/// silence for whoever presents it.
package struct CustomerReader: Sendable {
    package static let schedule = RetrySchedule(first: .seconds(60), longest: .seconds(3_600), attemptsMax: .max)

    private let recorder: Recorder
    private let accounts: [AppID: AppleAccount]
    private let clock: any WallClock

    package init(recorder: Recorder, accounts: [AppID: AppleAccount], clock: any WallClock) {
        self.recorder = recorder
        self.accounts = accounts
        self.clock = clock
    }

    package var handler: JobHandler {
        JobHandler(CustomerReading.self, schedule: Self.schedule) { job, _ in await read(job) }
    }

    private func read(_ job: CustomerReading) async -> JobOutcome {
        let (key, environment) = (job.transaction, job.transaction.realm.environment)
        guard let account = accounts[key.app], account.isTest == key.realm.isTestSigned,
            account.askableStores.contains(environment)
        else {
            return .done
        }
        let server = account.server
        let found =
            switch job.subject {
            case .refunds: server.refunds(ofAny: key.id, in: environment)
            case .history: server.history(ofAny: key.id, since: Timestamp(milliseconds: 0), in: environment)
            }
        var pages = found.makeAsyncIterator()
        while true {
            let page: HistoryPage?
            do throws(AppStoreFailure) {
                page = try await pages.next()
            } catch {
                return AppleTrouble.outcome(of: error, at: clock.now) ?? .done
            }
            guard let page else { return .done }
            for proof in page.transactions {
                do throws(StoreFailure) {
                    try await record(proof, account.app)
                } catch {
                    return .failed(because: "the store: \(error)")
                }
            }
        }
    }

    private func record(_ proof: Verified<Proof>, _ app: AppPolicy) async throws(StoreFailure) {
        guard app.mayCount(proof), let realm = proof.realm, app.environments.contains(realm.environment) else { return }
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
