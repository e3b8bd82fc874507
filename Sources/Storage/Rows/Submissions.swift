package import PurchaseModel

/// The number under which a proof is kept until it is decided.
package struct SubmissionID: Hashable, Comparable, Sendable {
    package let number: Int64

    package init(number: Int64) { self.number = number }

    package static func < (left: SubmissionID, right: SubmissionID) -> Bool { left.number < right.number }
}

/// A proof that could not be decided when it came.
package struct PendingSubmission: Hashable, Sendable {
    package var app: AppID
    package var digest: ProofDigest
    package var format: String
    package var proof: [UInt8]
    package var customer: CustomerID?
    package var order: OrderID?
    /// The word for what it waits for.
    package var reason: String
    package var receivedAt: Timestamp

    package init(
        app: AppID,
        digest: ProofDigest,
        format: String,
        proof: [UInt8],
        customer: CustomerID?,
        order: OrderID?,
        reason: String,
        receivedAt: Timestamp
    ) {
        self.app = app
        self.digest = digest
        self.format = format
        self.proof = proof
        self.customer = customer
        self.order = order
        self.reason = reason
        self.receivedAt = receivedAt
    }

    var isStorable: Bool { StorableText.isWord(format) && StorableText.isWord(reason) }
}

/// How a pending proof ended.
package struct Settlement: Hashable, Sendable {
    /// The word for what was decided about it.
    package var verdict: String
    package var at: Timestamp

    package init(verdict: String, at: Timestamp) {
        self.verdict = verdict
        self.at = at
    }

    var isStorable: Bool { StorableText.isWord(verdict) }
}

/// A submission as the store holds it.
package struct KeptSubmission: Hashable, Sendable {
    package var id: SubmissionID
    package var submission: PendingSubmission
    /// `nil` while it is pending.
    package var settlement: Settlement?

    package init(id: SubmissionID, submission: PendingSubmission, settlement: Settlement? = nil) {
        self.id = id
        self.submission = submission
        self.settlement = settlement
    }
}

/// Some of the pending submissions, oldest first.
package struct SubmissionPage: Hashable, Sendable {
    /// The most that one page holds: each carries its proof, which may have some MB.
    package static let limitMax = 20

    package var submissions: [KeptSubmission]
    /// `nil` when there are no more.
    package var next: SubmissionID?

    package init(submissions: [KeptSubmission] = [], next: SubmissionID? = nil) {
        self.submissions = submissions
        self.next = next
    }
}
