package import PurchaseModel

/// The name under which a proof is kept until it is decided, made by whoever keeps it from what makes two submissions
/// the same. It tells nothing of how many others there are.
package struct SubmissionID: Hashable, Sendable {
    package static let byteCount = 16

    /// Exactly ``byteCount`` bytes.
    package let bytes: [UInt8]

    /// `nil` unless there are 16 bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }
}

/// A place in the listing of pending submissions. It counts those of all apps: not for the outside.
package struct SubmissionCursor: Hashable, Sendable {
    package let sequence: Int64

    package init(sequence: Int64) { self.sequence = sequence }
}

/// What makes a pending submission the same one.
package struct SubmissionName: Hashable, Sendable {
    package var app: AppID
    package var digest: ProofDigest
    package var customer: CustomerID?

    package init(app: AppID, digest: ProofDigest, customer: CustomerID?) {
        self.app = app
        self.digest = digest
        self.customer = customer
    }
}

/// A proof that could not be decided when it came.
package struct PendingSubmission: Hashable, Sendable {
    package var id: SubmissionID
    package var app: AppID
    /// What makes it the same one: see ``proofDigest``.
    package var digest: ProofDigest
    package var format: String
    /// Empty once it was decided.
    package var proof: [UInt8]
    package var customer: CustomerID?
    package var order: OrderID?
    /// The stores of which it may be recorded; `nil` for all of the app.
    package var environments: Set<StoreEnvironment>?
    /// Whether whoever brought it has only named what was bought: it is recorded, and becomes nobody's by that.
    package var isOnlyNamed: Bool
    /// Of the proof's bytes, where ``digest`` is of more, or of less; `nil` where that is of them.
    package var proofDigest: ProofDigest?
    /// The word for what it waits for.
    package var reason: String
    package var receivedAt: Timestamp
    package var origin: SubmissionOrigin
    /// What was refused before this moment waits again: whoever imports it once more has mended what was wrong. Not kept.
    package var reopensBefore: Timestamp?

    package var name: SubmissionName { SubmissionName(app: app, digest: digest, customer: customer) }

    /// Of the proof's bytes.
    package var digestOfProof: ProofDigest { proofDigest ?? digest }

    /// The word for what waits for the rest of it: the shop has heard of what was recorded.
    package static let recordedInPart = "recorded_in_part"

    package var isRecordedInPart: Bool { reason == Self.recordedInPart }

    package init(
        id: SubmissionID,
        app: AppID,
        digest: ProofDigest,
        format: String,
        proof: [UInt8],
        customer: CustomerID?,
        order: OrderID?,
        environments: Set<StoreEnvironment>? = nil,
        isOnlyNamed: Bool = false,
        proofDigest: ProofDigest? = nil,
        reason: String,
        receivedAt: Timestamp,
        origin: SubmissionOrigin = .presented,
        reopensBefore: Timestamp? = nil
    ) {
        self.id = id
        self.app = app
        self.digest = digest
        self.format = format
        self.proof = proof
        self.customer = customer
        self.order = order
        self.environments = environments
        self.isOnlyNamed = isOnlyNamed
        self.proofDigest = proofDigest
        self.reason = reason
        self.receivedAt = receivedAt
        self.origin = origin
        self.reopensBefore = reopensBefore
    }

    var isStorable: Bool { StorableText.isWord(format) && StorableText.isWord(reason) }
}

/// Why a proof waits.
package enum SubmissionOrigin: Int64, Hashable, Sendable {
    case presented = 0
    /// Out of another system's books, which has delivered it. Imports take no place of those who present a purchase.
    case delivered = 1
    /// Out of another system's books, and still to be delivered.
    case imported = 2
}

/// How a pending proof ended.
package struct Settlement: Hashable, Sendable {
    /// The verdict of what waited too long. Sent again, it waits again.
    package static let givenUp = "given_up"
    /// The verdict of what Apple knew nothing of, or the app did not take. Both may change: sent again after
    /// ``notYoursFor``, it waits again.
    package static let notYours = "not_yours"
    /// The verdicts of what brought nothing: refused, or not decided at all.
    package static let refusals = [givenUp, notYours, "forged", "malformed", "undecidable"]
    /// Whoever sends the same again and again until the answer pleases has Apple asked no more often than this.
    package static let notYoursFor = Duration.seconds(3_600)
    /// How much longer than others may wait what an import has kept, for its turn: 175 million questions at the whole of
    /// Apple's limit. An app's plan may never end, since each of its imports makes it longer.
    package static let turnsFor = Duration.seconds(90 * 86_400)
    /// For how long it is known what became of a proof that had to wait; sent again after that, it is new.
    package static let keptFor = Duration.seconds(30 * 86_400)

    /// The word for what was decided about it.
    package var verdict: String
    package var at: Timestamp

    package init(verdict: String, at: Timestamp) {
        self.verdict = verdict
        self.at = at
    }

    var isStorable: Bool { StorableText.isWord(verdict) }

    var isRefusal: Bool { Self.refusals.contains(verdict) }

    /// Whether what was settled so waits again when it is sent again.
    func isOver(for submission: PendingSubmission) -> Bool {
        if let moment = submission.reopensBefore, isRefusal, at < moment { return true }
        let now = submission.receivedAt
        return switch verdict {
        case Self.givenUp: true
        case Self.notYours: at <= now.advanced(by: .zero - Self.notYoursFor)
        default: false
        }
    }
}

/// A submission as the store holds it.
package struct KeptSubmission: Hashable, Sendable {
    package var submission: PendingSubmission
    /// `nil` while it is pending.
    package var settlement: Settlement?

    package var id: SubmissionID { submission.id }

    package init(_ submission: PendingSubmission, settlement: Settlement? = nil) {
        self.submission = submission
        self.submission.reopensBefore = nil
        self.settlement = settlement
    }
}

/// What waits of an app, of what was presented.
package struct PendingLoad: Hashable, Sendable {
    package var submissions: Int
    /// Of their proofs.
    package var bytes: Int

    package init(submissions: Int = 0, bytes: Int = 0) {
        self.submissions = submissions
        self.bytes = bytes
    }
}

/// How much of an app's waits, and since when.
package struct PendingBacklog: Hashable, Sendable {
    package var app: AppID
    package var submissions: Int
    /// When the one that waits longest was received.
    package var oldest: Timestamp

    package init(app: AppID, submissions: Int, oldest: Timestamp) {
        self.app = app
        self.submissions = submissions
        self.oldest = oldest
    }
}

/// Some of the pending submissions, oldest first.
package struct SubmissionPage: Hashable, Sendable {
    /// The most that one page holds: each carries its proof, which may have some MB.
    package static let limitMax = 20

    package var submissions: [KeptSubmission]
    /// `nil` when there are no more.
    package var next: SubmissionCursor?

    package init(submissions: [KeptSubmission] = [], next: SubmissionCursor? = nil) {
        self.submissions = submissions
        self.next = next
    }
}
