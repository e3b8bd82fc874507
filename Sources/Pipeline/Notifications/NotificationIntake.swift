package import PurchaseModel
package import Storage
import Synchronization
package import Verification

/// Takes Apple's notifications in: verified, kept as they came, and what they prove recorded, in one commit.
///
/// Nothing here calls Apple. A notification that is known already changes nothing, and one of a type that we do not know
/// is kept like any other.
package struct NotificationIntake: Sendable {
    /// So many bytes of version 1 that prove nothing new are kept in an hour for each app.
    package static let unsignedBytesPerHour = 256 << 20
    /// About so many customers of whom nothing is known Apple is asked in an hour for each app, because somebody who has the
    /// shared secret tells of a refund: what was refunded before anybody presents it is still to be known.
    package static let strangersPerHour = 60

    let verifier: Verifier
    let recorder: Recorder
    let store: any Store
    private let secrets: [AppID: [UInt8]]
    let clock: any WallClock
    private let queue: ConsumptionQueue
    private let refunds: RefundQueue
    private let looks: LookQueue
    private let budget: UnsignedBudget
    private let strangers = UnsignedBudget(perHour: strangersPerHour)
    private let desk: RefusalDesk
    private let report: @Sendable (PipelineEvent) -> Void

    /// - Parameters:
    ///   - verifier: proves what is signed.
    ///   - recorder: records what was proved.
    ///   - store: where notifications are kept.
    ///   - refusals: counts what is none.
    ///   - secrets: the apps' shared secrets, by which notifications of version 1 are known.
    ///   - clock: dates what came.
    ///   - queue: gets the jobs that answer what Apple asks.
    ///   - refunds: gets those that ask for refunds at which version 1 only hints.
    ///   - looks: gets those that ask for what it says of subscriptions and no receipt shows.
    ///   - unsignedBytesPerHour: what is kept for each app of version 1 that proves nothing new.
    ///   - report: hears of each.
    package init(
        verifier: Verifier,
        recorder: Recorder,
        store: any Store,
        refusals: RefusalLedger,
        secrets: [AppID: [UInt8]] = [:],
        clock: any WallClock,
        queue: ConsumptionQueue = .none,
        refunds: RefundQueue = .none,
        looks: LookQueue = .none,
        unsignedBytesPerHour: Int = NotificationIntake.unsignedBytesPerHour,
        report: @escaping @Sendable (PipelineEvent) -> Void
    ) {
        self.verifier = verifier
        self.recorder = recorder
        self.store = store
        self.secrets = secrets
        self.clock = clock
        self.queue = queue
        self.refunds = refunds
        self.looks = looks
        self.report = report
        budget = UnsignedBudget(perHour: unsignedBytesPerHour)
        desk = RefusalDesk(refusals: refusals, clock: clock, report: report)
    }

    /// Takes one in. Safe to repeat: the same notification is kept once.
    ///
    /// - Parameters:
    ///   - bytes: the body that Apple sent, or the `signedPayload` alone.
    ///   - app: whom it was sent to.
    ///   - arrival: how it came.
    /// - Returns: what became of it.
    /// - Throws: `StoreFailure` when nothing is known to have been written; Apple sends it again.
    package func take(
        _ bytes: [UInt8],
        for app: AppPolicy,
        arrival: KeptNotification.Arrival = .pushed
    ) async throws(StoreFailure) -> NotificationOutcome {
        let digest = ProofDigest(of: bytes)
        let name = RefusedBefore.Name(app: app.id, digest: digest)
        if let reason = desk.repetition(of: name, bytes, from: nil) { return .refused(Outcome.Refused(reason)) }
        let arrived = Arrived(bytes: bytes, digest: digest, app: app, arrival: arrival, at: clock.now)
        if let notice = UnsignedNotice(bytes) { return try await take(notice, arrived, name) }
        let examination = verifier.examine(bytes, expecting: app.expectationOfNotifications)
        let found = examination.report
        if found.verdict == .undecidable {
            // Nothing will ever tell what a transaction's number alone, or the like, is to mean here.
            guard found.format == .jwsNotification else {
                return refuse(found.format, .unrecognised, arrived, name, found.claimed)
            }
            return .undecided
        }
        guard let proof = examination.proof, app.mayCount(proof) else {
            return refuse(found.format, found.reason, arrived, name, found.claimed)
        }
        guard let notice = proof.fact.claims.notice, let realm = proof.realm else {
            return refuse(found.format, .unrecognised, arrived, name, found.claimed)
        }
        guard let row = arrived.row(of: notice, realm: realm) else {
            return refuse(found.format, .fieldOutOfRange, arrived, name, found.claimed)
        }
        return try await keep(row, proof, arrived, name, arrived.announcement(of: notice, row))
    }

    /// Version 1: what is authentic by its secret is kept, and the receipt in it verified.
    private func take(
        _ notice: UnsignedNotice,
        _ arrived: Arrived,
        _ name: RefusedBefore.Name
    ) async throws(StoreFailure) -> NotificationOutcome {
        let app = arrived.app
        guard let secret = secrets[app.id] else { return .needsSharedSecret }
        guard notice.isSent(with: secret) else { return refuse(.notificationV1, .sharedSecret, arrived, name) }
        if let bundleID = notice.bundleID, !bundleID.utf8.elementsEqual(app.bundleID.text.utf8) {
            return refuse(.notificationV1, .foreignBundleID, arrived, name)
        }
        guard let environment = notice.environment, app.environments.contains(environment) else {
            return refuse(.notificationV1, .environmentNotAccepted, arrived, name)
        }
        let examination = notice.receipt.map { verifier.examine($0, expecting: app.expectationOfNotifications) }
        let proof = examination?.proof.flatMap { app.mayCount($0) && $0.isFrom(environment) ? $0 : nil }
        let realm = Realm(environment: environment, isTestSigned: proof?.provenance.vouchedBy.isTest ?? false)
        guard let row = arrived.row(of: notice, realm: realm, signedAt: proof?.provenance.signedAt) else {
            return refuse(.notificationV1, .fieldOutOfRange, arrived, name)
        }
        return try await keep(row, proof, arrived, name, hints: Hints(notice, row, proof))
    }

    private func keep(
        _ row: KeptNotification,
        _ proof: Verified<Proof>?,
        _ arrived: Arrived,
        _ name: RefusedBefore.Name,
        _ announcement: Announcement? = nil,
        hints: Hints = Hints()
    ) async throws(StoreFailure) -> NotificationOutcome {
        let known = try await store.read { reader throws(StoreFailure) in try reader.notification(row.key) }
        if let known { return note(known, isNew: false) }
        // What Apple signed, and nobody has seen yet, cannot be made up.
        if row.version == 1, try await !isNews(proof, to: row) {
            guard budget.take(row.payload.count, of: row.key.app, at: arrived.moment) else { return .tooMuch }
        }
        let allowance = Allowance { [strangers] in strangers.take(1, of: row.key.app, at: arrived.moment) }
        do throws(StoreFailure) {
            if let proof, !proof.fact.transactions.isEmpty || announcement?.isHeard == true {
                try await record(row, proof, arrived, announcement, hints, allowance)
            } else {
                try await store.write { transaction throws(StoreFailure) in
                    guard try transaction.keepNotification(row) else { return }
                    try follow(hints, allowance, in: transaction)
                }
            }
        } catch .unstorable {
            return refuse(row.version == 1 ? .notificationV1 : .jwsNotification, .fieldOutOfRange, arrived, name)
        } catch .conflict {
            let known = try await store.read { reader throws(StoreFailure) in try reader.notification(row.key) }
            guard let known else { throw .conflict }
            return note(known, isNew: false)
        }
        return note(row, isNew: true)
    }

    /// Whether a receipt shows a purchase that is not recorded, or that Apple took one back: each shows it once. An old receipt
    /// may show for ever what Apple has given back since.
    private func isNews(_ proof: Verified<Proof>?, to row: KeptNotification) async throws(StoreFailure) -> Bool {
        guard let shown = proof?.fact.transactions, !shown.isEmpty else { return false }
        let keys = shown.map { TransactionKey(app: row.key.app, realm: row.key.realm, id: $0.id) }
        let known = try await store.read { reader throws(StoreFailure) in try reader.transactions(keys) }
        let recorded = Dictionary(known.map { ($0.id, $0.transaction) }) { first, _ in first }
        return shown.contains { fact in recorded[fact.id].map { takesBack(fact, after: $0) } ?? true }
    }

    private func record(
        _ row: KeptNotification,
        _ proof: Verified<Proof>,
        _ arrived: Arrived,
        _ announcement: Announcement?,
        _ hints: Hints,
        _ allowance: Allowance
    ) async throws(StoreFailure) {
        var recording = proof.recording(for: arrived.app, in: row.key.realm)
        recording.announcement = announcement
        recording.isLookedUp = !row.tellsOfPurchase
        let (queue, evidence) = (queue, proof.evidence(at: arrived.moment))
        _ = try await recorder.record(recording, evidence: evidence) { decision, transaction throws(StoreFailure) in
            // The same one at the same time: what it tells is told once.
            guard try transaction.keepNotification(row) else { throw .conflict }
            for case .insert(let request) in decision.consumptions where !request.state.isSettled {
                try queue.enqueue(request, transaction)
            }
            try follow(hints, allowance, in: transaction)
        }
    }

    private func follow(
        _ hints: Hints,
        _ allowance: Allowance,
        in write: any StoreTransaction
    ) throws(StoreFailure) {
        if let refunded = try refunded(hints, allowance, in: write) { try refunds.ask(refunded, write) }
        for chain in hints.subscriptions { try looks.ask(chain, write) }
    }

    /// By which transaction Apple is asked for a customer's refunds: one that a receipt proves, or else the first that is
    /// recorded. Any other may be made up.
    private func refunded(
        _ hints: Hints,
        _ allowance: Allowance,
        in reader: any StoreTransaction
    ) throws(StoreFailure) -> TransactionKey? {
        if let proved = hints.refundProved { return proved }
        guard let first = hints.refundClaimed.first else { return nil }
        let known = Set(try reader.transactions(hints.refundClaimed).map(\.key))
        if let recorded = hints.refundClaimed.first(where: known.contains) { return recorded }
        // Of a subscription a later period may be what is known.
        let chains = hints.refundClaimed.map { ChainKey(app: $0.app, realm: $0.realm, original: $0.id) }
        if let chain = try reader.subscriptions(chains).first?.chain {
            return TransactionKey(app: chain.app, realm: chain.realm, id: chain.original)
        }
        return allowance.isGiven ? first : nil
    }

    private func note(_ row: KeptNotification, isNew: Bool) -> NotificationOutcome {
        let key = row.key
        report(
            .notified(app: key.app, type: row.type, subtype: row.subtype, arrival: row.arrival, isRepetition: !isNew)
        )
        return .kept(row, isNew: isNew)
    }

    private func refuse(
        _ format: ProofFormat,
        _ reason: Reason,
        _ arrived: Arrived,
        _ name: RefusedBefore.Name,
        _ claimed: [TransactionID] = []
    ) -> NotificationOutcome {
        desk.refuse(format, reason, arrived.bytes, from: nil, name, claiming: claimed)
        return .refused(Outcome.Refused(reason))
    }
}

/// What became of a notification.
package enum NotificationOutcome: Sendable {
    /// On disk, now or before: as it was first kept.
    case kept(KeptNotification, isNew: Bool)
    /// Proven bad; nothing was written.
    case refused(Outcome.Refused)
    /// It does not say which store it is from, or who signed it cannot be told yet.
    case undecided
    /// It is of version 1, which only the app's shared secret proves, and none is configured.
    case needsSharedSecret
    /// It is of version 1 and proves nothing new, and too many of these came within the hour.
    case tooMuch
}

/// What a notification of version 1 says beside its receipt. Nobody has signed it: it is what to ask Apple about.
private struct Hints: Sendable {
    /// A transaction of a customer who got money back, as a receipt proves; `nil` if none does.
    var refundProved: TransactionKey?
    /// What may be transactions of that customer.
    var refundClaimed: [TransactionKey] = []
    var subscriptions: [ChainKey] = []

    /// Version 2 says all with a signature.
    init() {}

    init(_ notice: UnsignedNotice, _ row: KeptNotification, _ proof: Verified<Proof>?) {
        let (app, realm) = (row.key.app, row.key.realm)
        // No receipt tells the refund of a consumable, and what an app has finished leaves it.
        if row.tellsOfRefund {
            let key = { id in TransactionKey(app: app, realm: realm, id: id) }
            refundProved = proof?.fact.transactions.first.map { key($0.id) }
            refundClaimed = notice.transactions.map(key)
        }
        // A charge stands in the receipt; how a subscription goes on stands in none.
        guard proof == nil || !row.tellsOfCharge else { return }
        subscriptions = notice.subscriptions.map { ChainKey(app: app, realm: realm, original: $0) }
    }
}

/// Something that is asked for once, however often the write is made again in which it is.
private final class Allowance: Sendable {
    private let ask: @Sendable () -> Bool
    private let answer = Mutex<Bool?>(nil)

    init(_ ask: @escaping @Sendable () -> Bool) {
        self.ask = ask
    }

    var isGiven: Bool {
        answer.withLock { answer in
            let isGiven = answer ?? ask()
            answer = isGiven
            return isGiven
        }
    }
}

extension KeptNotification {
    /// Whether what it proves was just bought. Version 1 brings the customer's whole receipt, and does not say which purchase
    /// in it is meant.
    var tellsOfPurchase: Bool { version == 2 && Announcement.tellsOfPurchase(type: type, subtype: subtype) }
}

/// Types of version 1.
extension KeptNotification {
    /// Whether Apple says that it took something back.
    fileprivate var tellsOfRefund: Bool { ["REFUND", "CANCEL"].contains(type) }

    /// Whether Apple says that something was bought, or a renewal charged, or what concerns no subscription.
    fileprivate var tellsOfCharge: Bool {
        [
            "INITIAL_BUY", "DID_RENEW", "DID_RECOVER", "INTERACTIVE_RENEWAL", "RENEWAL", "REFUND",
            "CONSUMPTION_REQUEST",
        ].contains(type)
    }
}

extension Announcement {
    /// Whether anything follows from it beside its facts.
    fileprivate var isHeard: Bool { isToldItself || matter != .none }
}

extension Verified<Proof> {
    fileprivate func isFrom(_ environment: StoreEnvironment) -> Bool { fact.claims.environment == environment }
}
