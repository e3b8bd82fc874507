package import PurchaseModel

/// An id that tells apart what came at the same moment.
package protocol ListedID: Hashable, Comparable, Sendable {
    var text: String { get }
    init?(_ text: String)
}

extension NotificationID: ListedID {}
extension OrderID: ListedID {}

/// A place in a listing by time: after a moment, and after an id among what came at it. It counts nobody else's rows.
package struct TimeCursor<ID: ListedID>: Hashable, Comparable, Sendable {
    package let moment: Timestamp
    package let id: ID

    package init(_ moment: Timestamp, _ id: ID) {
        self.moment = moment
        self.id = id
    }

    /// As ``text`` writes it; `nil` for anything else.
    package init?(text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), maxSplits: 1)
        guard parts.count == 2, let moment = TransactionID(String(decoding: parts[0], as: UTF8.self))?.number,
            let id = ID(String(decoding: parts[1], as: UTF8.self))
        else { return nil }
        self.init(Timestamp(milliseconds: moment), id)
    }

    /// How answers and links write it: `1700000000000-…`.
    package var text: String { "\(moment.milliseconds)-\(id.text)" }

    package static func < (left: Self, right: Self) -> Bool {
        left.moment == right.moment ? left.id < right.id : left.moment < right.moment
    }
}
