import PurchaseModel

/// Which version of each transaction was read within one write: a change is made to that one or to none.
final class RowVersions {
    /// What a row has when it is inserted.
    static let first: Int64 = 1

    private let isKept: Bool
    private var known: [TransactionKey: Int64] = [:]

    /// Who only reads may read everything, and changes nothing: then none is kept.
    init(isKept: Bool) { self.isKept = isKept }

    /// Reading a row again after its change tells what it says now, but a change that somebody else made since the
    /// first reading was not decided upon: the first one counts.
    func note(_ version: Int64, of key: TransactionKey) {
        if isKept, known[key] == nil { known[key] = version }
    }

    /// After a change of our own.
    func set(_ version: Int64, of key: TransactionKey) { known[key] = version }

    func version(of key: TransactionKey) -> Int64? { known[key] }
}
