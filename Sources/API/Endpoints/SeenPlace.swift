import PurchaseModel
import Storage

/// How far a listing was looked through for whoever may not see all of it, and the place of it that may be told: that of a row
/// that was seen, or else a moment. What is out of sight is not named.
struct SeenPlace<ID: ListedID & PrefixedID>: Sendable {
    /// As a listing goes.
    enum Order: Sendable {
        case oldestFirst
        case newestFirst
    }

    private let order: Order
    /// Where it began.
    private let start: TimeCursor<ID>?
    /// The last row that may be seen, of those that were looked at.
    var lastSeen: TimeCursor<ID>?

    init(_ order: Order, from start: TimeCursor<ID>?) {
        self.order = order
        self.start = start
    }

    /// Where to go on after the last row that was looked at.
    ///
    /// - Parameter reached: that row, seen or not.
    /// - Returns: behind all that was seen, and not behind what was not looked at; `nil` where it would be the beginning again,
    ///   as so many came at the same moment: look further.
    func told(_ reached: TimeCursor<ID>) -> TimeCursor<ID>? {
        if lastSeen == reached { return reached }
        // No name is less: all of the moment stands on one side of it.
        let least = ID(checked: ID.prefix + "-")
        switch order {
        case .oldestFirst:
            let place = TimeCursor(reached.moment, least)
            guard let known = lastSeen ?? start, place <= known else { return place }
        case .newestFirst:
            let place = TimeCursor(reached.moment.advanced(by: .milliseconds(1)), least)
            guard let known = lastSeen ?? start, known <= place else { return place }
        }
        return lastSeen
    }
}
