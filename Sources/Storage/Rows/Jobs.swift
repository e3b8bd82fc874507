package import PurchaseModel

/// The name of a job.
package struct JobID: PrefixedID, ListedID {
    package static let prefix = "job_"
    package let text: String
    package init(checked text: String) { self.text = text }

    package static func < (left: JobID, right: JobID) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}

/// How far a job is. What is done is gone. The numbers are in files that exist: one is never given another meaning.
package enum JobState: Int64, Hashable, Sendable, CaseIterable {
    case pending = 0
    case leased = 1
    /// It waits to be claimed alone: a lease of it ran out.
    case suspect = 2
    /// Given up, with a reason; it can be revived.
    case dead = 3
}

/// Work that is to be done later.
package struct NewJob: Hashable, Sendable {
    /// Far above what names a piece of work; what is larger belongs in a table of its own.
    package static let payloadBytesMax = 65_536

    package var id: JobID
    /// The word for what is to be done.
    package var kind: String
    /// At most ``payloadBytesMax`` bytes.
    package var payload: [UInt8]
    /// By the clock that says when it was made.
    package var due: Timestamp
    /// If there is one: while a job of this kind and key waits or runs, no second one is added. 1 to 255 bytes of ASCII.
    package var key: String?
    package var createdAt: Timestamp

    package init(
        id: JobID,
        kind: String,
        payload: [UInt8],
        due: Timestamp,
        key: String? = nil,
        createdAt: Timestamp
    ) {
        self.id = id
        self.kind = kind
        self.payload = payload
        self.due = due
        self.key = key
        self.createdAt = createdAt
    }

    /// For how many milliseconds it is to wait.
    var pause: Int64 {
        let (pause, overflow) = due.milliseconds.subtractingReportingOverflow(createdAt.milliseconds)
        return overflow ? (due < createdAt ? .min : .max) : pause
    }

    var isStorable: Bool {
        StorableText.isWord(kind) && payload.count <= Self.payloadBytesMax && key.map(StorableText.isWord) ?? true
    }
}

/// A job as the store holds it.
package struct JobRow: Hashable, Sendable {
    package var job: NewJob
    package var state: JobState
    /// When it may be claimed; while it is leased, until when. Means nothing once it is dead.
    package var dueAt: Timestamp
    /// How often it was claimed since it was added, last revived, or last ended without having failed. Counted at the claim: a
    /// crash does not undo it.
    package var attempt: Int
    /// How many leases in a row ran out: its process was gone, or hung.
    package var lostLeases: Int
    /// While it is leased.
    package var lease: Lease?
    /// Why it is dead, or why it is tried again: a word of our own, or a sentence.
    package var reason: String?
    /// When it died.
    package var diedAt: Timestamp?

    package var id: JobID { job.id }
    /// What the lease's holder shows; `nil` while it is not leased.
    package var hold: JobHold? { lease.map { JobHold(id: id, owner: $0.owner, token: $0.token) } }

    package init(
        _ job: NewJob,
        state: JobState,
        dueAt: Timestamp,
        attempt: Int,
        lostLeases: Int,
        lease: Lease?,
        reason: String?,
        diedAt: Timestamp?
    ) {
        self.job = job
        self.state = state
        self.dueAt = dueAt
        self.attempt = attempt
        self.lostLeases = lostLeases
        self.lease = lease
        self.reason = reason
        self.diedAt = diedAt
    }
}

/// What a lease's holder shows to renew it or to say how it went.
package struct JobHold: Hashable, Sendable {
    package var id: JobID
    package var owner: LeaseOwner
    package var token: Int64

    package init(id: JobID, owner: LeaseOwner, token: Int64) {
        self.id = id
        self.owner = owner
        self.token = token
    }
}

/// Which jobs to claim.
package enum JobSelection: Hashable, Sendable {
    /// Those whose last lease did not run out, so many at most.
    case sound(limit: Int)
    /// One whose last lease ran out. It may be what ended its process: run it with nothing beside it.
    case suspect
}

/// What was claimed.
package struct JobClaim: Hashable, Sendable {
    /// The most that one claim gives.
    package static let limitMax = 500

    /// Longest due first; each is leased.
    package var jobs: [JobRow]
    /// Whether a suspect is due, of these kinds, that this claim did not give.
    package var hasSuspects: Bool

    package init(jobs: [JobRow] = [], hasSuspects: Bool = false) {
        self.jobs = jobs
        self.hasSuspects = hasSuspects
    }
}

/// How a job ended, as it is written.
package enum JobEnding: Hashable, Sendable {
    /// It is deleted.
    case done
    /// Due again so much later, for this reason.
    case again(after: Duration, because: String)
    /// The same, and it counts as an attempt as little as those before it.
    case afresh(after: Duration, because: String)
    /// A dead letter, for this reason.
    case dead(because: String)
    /// It was not run: due at once, and not counted as an attempt.
    case released

    var isStorable: Bool {
        switch self {
        case .done, .released: true
        case .again(_, let reason), .afresh(_, let reason), .dead(let reason): StorableText.isStorable(reason)
        }
    }
}

/// A job that was run, or let go, and how that ended.
package struct FinishedJob: Hashable, Sendable {
    /// What the claim gave.
    package var hold: JobHold
    package var ending: JobEnding

    package init(_ hold: JobHold, as ending: JobEnding) {
        self.hold = hold
        self.ending = ending
    }
}

/// Some of the dead letters, those that died first before the others.
package struct DeadLetterPage: Hashable, Sendable {
    /// The most that one page holds.
    package static let limitMax = 200

    package var jobs: [JobRow]
    /// `nil` when there are no more.
    package var next: DeadLetterCursor?

    package init(jobs: [JobRow] = [], next: DeadLetterCursor? = nil) {
        self.jobs = jobs
        self.next = next
    }
}

/// A place in the listing of dead letters, which is by when they died and then by their ids.
package struct DeadLetterCursor: Hashable, Sendable {
    package let diedAt: Timestamp
    package let id: JobID

    package init(diedAt: Timestamp, id: JobID) {
        self.diedAt = diedAt
        self.id = id
    }
}

/// What of one kind waits or was given up, counted no further than a limit.
package struct JobBacklog: Hashable, Sendable {
    package var kind: String
    /// In each state; as many as the limit says that there may be more.
    package var counts: [JobState: Int]
    /// How many of the pending ones are due, as far as the same limit.
    package var due: Int
    /// When the first of the pending ones is, or was, due.
    package var oldestDue: Timestamp?

    package init(kind: String, counts: [JobState: Int] = [:], due: Int = 0, oldestDue: Timestamp? = nil) {
        self.kind = kind
        self.counts = counts
        self.due = due
        self.oldestDue = oldestDue
    }
}

/// How much of one kind there is.
package struct JobFigures: Hashable, Sendable {
    package var kind: String
    package var counts: [JobState: Int]
    /// When the first of the pending ones is, or was, due.
    package var oldestDue: Timestamp?

    package init(kind: String, counts: [JobState: Int] = [:], oldestDue: Timestamp? = nil) {
        self.kind = kind
        self.counts = counts
        self.oldestDue = oldestDue
    }
}
