package import PurchaseModel

/// An hour, counted since 1970-01-01T00:00:00Z: how finely refusals are counted.
package struct HourOfTime: Hashable, Comparable, Sendable {
    package let number: Int64

    package init(number: Int64) { self.number = number }

    /// The hour in which the moment lies.
    package init(containing moment: Timestamp) {
        let (hours, rest) = moment.milliseconds.quotientAndRemainder(dividingBy: 3_600_000)
        number = rest < 0 ? hours - 1 : hours
    }

    /// Its first millisecond.
    package var start: Timestamp {
        Timestamp(milliseconds: number.multipliedReportingOverflow(by: 3_600_000).partialValue)
    }

    package static func < (left: HourOfTime, right: HourOfTime) -> Bool { left.number < right.number }
}

/// What refusals are counted by.
package struct RefusalKey: Hashable, Sendable {
    package var hour: HourOfTime
    /// `nil` when the proof was for no app that we know.
    package var app: AppID?
    /// The word for the reason.
    package var reason: String

    package init(hour: HourOfTime, app: AppID?, reason: String) {
        self.hour = hour
        self.app = app
        self.reason = reason
    }

    var isStorable: Bool { StorableText.isWord(reason) }
}

/// How many proofs were refused for one reason in one hour.
package struct RefusalCount: Hashable, Sendable {
    package var key: RefusalKey
    package var count: Int

    package init(key: RefusalKey, count: Int) {
        self.key = key
        self.count = count
    }
}

/// How many proofs of an app were refused for one reason, over some hours.
package struct RefusalTotal: Hashable, Sendable {
    /// `nil` when the proofs were for no app that we know.
    package var app: AppID?
    /// The word for the reason.
    package var reason: String
    package var count: Int
    /// The hours of the first and the last of them.
    package var first: HourOfTime
    package var last: HourOfTime

    package init(app: AppID?, reason: String, count: Int, first: HourOfTime, last: HourOfTime) {
        self.app = app
        self.reason = reason
        self.count = count
        self.first = first
        self.last = last
    }
}

/// One refused proof, for a person to look at.
package struct RefusalSample: Hashable, Sendable {
    /// How much of a proof a sample keeps: a whole JWS, the beginning of a large receipt.
    package static let bytesMax = 16_384
    /// How many samples the store keeps; older ones are deleted.
    package static let keptMax = 1_000
    /// How many are listed at once.
    package static let listedMax = 100
    /// How many of the transactions that it claims are kept: an index holds them.
    package static let claimedMax = 100

    package var app: AppID?
    package var reason: String
    /// A word for what it is written in; `nil` in rows of older versions.
    package var format: String?
    /// The transactions that it says it proves, each once, at most ``claimedMax``; of what is another
    /// customer's, those that are.
    package let claimed: [TransactionID]
    package var customer: CustomerID?
    package var receivedAt: Timestamp
    package var digest: ProofDigest
    /// The proof's length as it was received, in bytes.
    package var bytesInAll: Int
    /// Its beginning, at most ``bytesMax`` bytes.
    package let proof: [UInt8]

    package init(
        app: AppID?,
        reason: String,
        customer: CustomerID?,
        receivedAt: Timestamp,
        digest: ProofDigest,
        bytesInAll: Int,
        proof: some Collection<UInt8>,
        format: String? = nil,
        claimed: some Sequence<TransactionID> = []
    ) {
        self.app = app
        self.reason = reason
        self.customer = customer
        self.receivedAt = receivedAt
        self.digest = digest
        self.bytesInAll = bytesInAll
        self.proof = Array(proof.prefix(Self.bytesMax))
        self.format = format
        var seen: Set<TransactionID> = []
        self.claimed = Array(claimed.lazy.filter { seen.insert($0).inserted }.prefix(Self.claimedMax))
    }

    var isStorable: Bool { StorableText.isWord(reason) && format.map(StorableText.isWord) ?? true }
}

/// What samples are looked up by.
package enum RefusalSubject: Hashable, Sendable {
    /// Who presented it.
    case customer(AppID, CustomerID)
    /// What it claims to prove.
    case transaction(AppID, TransactionID)
    /// Itself.
    case proof(ProofDigest)
}
