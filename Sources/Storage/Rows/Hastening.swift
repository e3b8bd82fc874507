package import PurchaseModel

/// By how much the clock that due moments were written by was ahead of the time that it is now.
package struct ClockLead: Hashable, Sendable {
    let now: Timestamp
    let milliseconds: Int64
    /// No lease that was taken by the right clock ends later.
    let leasesEnd: Timestamp
    /// No look at a subscription that was planned by the right clock is later.
    let looksEnd: Timestamp

    /// - Parameters:
    ///   - lead: by how much.
    ///   - now: by the clock that is right.
    package init(_ lead: Duration, at now: Timestamp) {
        self.now = now
        milliseconds = now.advanced(by: lead).milliseconds - now.milliseconds
        leasesEnd = now.advanced(by: LeaseTerms.durationMax)
        looksEnd = now.advanced(by: LookSchedule.longest)
    }

    /// When what was due later than now is due instead: never before now; `nil` where it stays as it is.
    func moved(_ due: Timestamp, isLeased: Bool) -> Timestamp? {
        guard due > (isLeased ? leasesEnd : now) else { return nil }
        return max(now, due.advanced(by: .milliseconds(-milliseconds)))
    }

    /// Whether the next look at a subscription is to be now.
    func hastens(_ subscription: RecordedSubscription) -> Bool {
        guard let next = subscription.nextLook else { return subscription.lookedAt > now }
        return next > looksEnd || subscription.lookedAt > now && next > now
    }
}

/// How far all that a clock put off which was ahead was gone through: everything has one place, and is come upon once.
package struct HastePlace: Hashable, Sendable {
    enum Part: Hashable, Sendable {
        /// From the newest to the oldest: what is added meanwhile by the right clock is not come upon.
        case jobs(before: Int64)
        /// By endpoint, state and position; `nil` before the first.
        case deliveries(after: WalkPlace?)
        /// By app, number and side; `nil` before the first.
        case looks(after: WalkPlace?)
    }

    let part: Part

    /// Before all of it.
    package static let start = HastePlace(part: .jobs(before: .max))
}

/// What one step has brought forward.
package struct HasteStep: Hashable, Sendable {
    /// How many are due sooner.
    package var hastened: Int
    /// Where to go on; `nil` at the end.
    package var next: HastePlace?

    package init(hastened: Int, next: HastePlace?) {
        self.hastened = hastened
        self.next = next
    }
}
