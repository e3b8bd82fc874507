/// What Apple has said of how the periods of one subscription ended: which renewals could not be charged, and when it was
/// over.
///
/// The newest statement does not tell: once a charge has succeeded, or the subscription was bought again, nothing in it is
/// about what was before. So of each end it is kept what any statement said of it, in whatever order they came.
package struct PeriodEnds: Hashable, Sendable {
    /// The end of one period.
    package struct End: Hashable, Sendable {
        /// To the second: receipts know no more of the period.
        package let at: Timestamp
        /// Apple could not charge for the next period.
        package fileprivate(set) var isFailed: Bool
        /// The latest that was said; `nil` without a grace.
        package fileprivate(set) var graceEndsAt: Timestamp?
        /// When Apple first signed that the subscription was over, whyever.
        package fileprivate(set) var overAt: Timestamp?

        package init(at: Timestamp, isFailed: Bool, graceEndsAt: Timestamp?, overAt: Timestamp?) {
            self.at = Timestamp(milliseconds: at.seconds * 1_000)
            self.isFailed = isFailed
            self.graceEndsAt = graceEndsAt
            self.overAt = overAt
        }
    }

    /// Where Apple goes on with the subscription under another original transaction, and from when.
    package struct Move: Hashable, Sendable {
        package let to: TransactionID
        package let at: Timestamp

        package init(to: TransactionID, at: Timestamp) {
            self.to = to
            self.at = at
        }
    }

    /// Where it came from, and which of its own periods stands in the chain before, too.
    package struct Origin: Hashable, Sendable {
        package let from: TransactionID
        /// When the period began that was paid for there; `nil` where there is none.
        package let repeated: Timestamp?

        package init(from: TransactionID, repeated: Timestamp?) {
            self.from = from
            self.repeated = repeated
        }
    }

    /// Only the last ones are kept: those of nine years that failed each week.
    package static let countMax = 500

    /// The earliest first, each once.
    package private(set) var ends: [End] = []

    package var move: Move?
    package var origin: Origin?

    package init() {}

    package init(_ ends: some Sequence<End>) {
        for end in ends { note(end) }
    }

    package var isEmpty: Bool { ends.isEmpty && move == nil && origin == nil }

    /// Those that figures are made of.
    package var failed: [End] { ends.filter(\.isFailed) }

    /// What was said of one end, to the second.
    subscript(end: Timestamp) -> End? { ends.last { $0.at.seconds == end.seconds } }

    /// Whether figures come to the same by either.
    func countsLike(_ other: PeriodEnds) -> Bool {
        failed == other.failed && move == other.move && origin == other.origin
    }

    /// A statement that does not say which end it is about tells nothing of any.
    package mutating func note(_ renewal: Renewal) {
        guard let end = End(renewal) else { return }
        note(end)
    }

    private mutating func note(_ end: End) {
        if let place = ends.firstIndex(where: { $0.at >= end.at }) {
            if ends[place].at == end.at { ends[place].merge(end) } else { ends.insert(end, at: place) }
        } else {
            ends.append(end)
        }
        if ends.count > Self.countMax { ends.removeFirst() }
    }
}

extension PeriodEnds.End {
    /// `nil` for what is no end, or says of none that it was one.
    fileprivate init?(_ renewal: Renewal) {
        guard let end = renewal.renewsAt else { return nil }
        let isRetrying = renewal.isInBillingRetry == true
        let isBillingError = renewal.expirationIntent == SubscriptionEnding.billingError.rawValue
        // A grace that goes on is none that is over, whatever else is said: notifications of its start were seen without
        // the flag.
        let hasGrace = renewal.graceEndsAt.map { $0 > end } ?? false
        let isInGrace = renewal.graceEndsAt.map { $0 > renewal.signedAt } ?? false
        let isFailed = isRetrying || isBillingError || hasGrace
        let isOver = renewal.expirationIntent != nil && !isRetrying && !(isBillingError && isInGrace)
        guard isFailed || isOver else { return nil }
        self.init(
            at: end,
            isFailed: isFailed,
            graceEndsAt: hasGrace ? renewal.graceEndsAt : nil,
            overAt: isOver ? renewal.signedAt : nil
        )
    }

    /// What either says: any order of any number of them comes to the same.
    fileprivate mutating func merge(_ other: Self) {
        isFailed = isFailed || other.isFailed
        graceEndsAt = [graceEndsAt, other.graceEndsAt].compactMap(\.self).max()
        overAt = [overAt, other.overAt].compactMap(\.self).min()
    }
}
