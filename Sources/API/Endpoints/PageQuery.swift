import PurchaseModel
import Storage

/// `limit` and `after` of a listing, each at most once; anything else in the query is an error.
struct PageQuery {
    struct Fault: Error {
        let detail: String

        static let limit = Fault(detail: "limit is a number from 1 to \(TransactionPage.limitMax).")
        static let after = Fault(detail: "after is the next of another page.")
        static let unknown = Fault(detail: "A listing takes limit=… and after=…, and nothing else.")

        static func twice(_ name: String) -> Fault { Fault(detail: "\(name) stands there twice.") }
    }

    private(set) var limit = 100
    private(set) var after: TransactionCursor?

    init(_ query: String?) throws(Fault) {
        guard let query, !query.isEmpty else { return }
        var seen: Set<String> = []
        for pair in query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw .unknown }
            let (name, value) = (String(decoding: parts[0], as: UTF8.self), String(decoding: parts[1], as: UTF8.self))
            switch name {
            case "limit":
                // A transaction's number is read as strictly: digits alone, and none too many.
                guard let number = TransactionID(value)?.number, (1...Int64(TransactionPage.limitMax)).contains(number)
                else { throw .limit }
                limit = Int(number)
            case "after":
                guard let cursor = TransactionCursor(text: value) else { throw .after }
                after = cursor
            default: throw .unknown
            }
            guard seen.insert(name).inserted else { throw .twice(name) }
        }
    }
}

/// A place in a listing as our answers write it: `2000000123456789.sandbox`, and `.test` behind it for what only a test
/// authority signed. Whoever has the page knows all of it.
extension TransactionCursor {
    init?(text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard (2...3).contains(parts.count), let id = TransactionID(parts[0]),
            StoreEnvironment.known.map(\.rawValue).contains(parts[1]), parts.count == 2 || parts[2] == "test"
        else { return nil }
        let environment = StoreEnvironment(rawValue: parts[1])
        self.init(realm: Realm(environment: environment, isTestSigned: parts.count == 3), id: id)
    }

    var text: String { "\(id).\(realm.environment)\(realm.isTestSigned ? ".test" : "")" }
}
