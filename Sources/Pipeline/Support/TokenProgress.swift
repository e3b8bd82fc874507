import Encoding
import PurchaseModel

/// How far the tokens of a customer's purchases have come.
struct TokenProgress {
    /// More are counted, and not named.
    private static let namedMax = 100

    var done = 0
    /// The first ones.
    private(set) var refused: [(id: TransactionID, code: String)] = []
    /// All of them.
    private(set) var refusedCount = 0
    var after: TransactionID?

    init(_ noted: [UInt8]?) {
        guard let noted, let object = try? JSONDocument(noted).root.object else { return }
        done = object["done"]?.int64.map { Int($0) } ?? 0
        after = object["after"]?.string.flatMap { TransactionID($0) }
        refused =
            (object["refused"]?.array).map { rows in
                rows.compactMap { row in
                    guard let id = row.object?["original_transaction_id"]?.string.flatMap({ TransactionID($0) }),
                        let code = row.object?["code"]?.string
                    else { return nil }
                    return (id, code)
                }
            } ?? []
        refusedCount = object["refused_count"]?.int64.map { Int($0) } ?? refused.count
    }

    mutating func refuse(_ id: TransactionID, _ code: String) {
        refusedCount += 1
        if refused.count < Self.namedMax { refused.append((id, code)) }
    }

    func write(into json: inout JSONObjectWriter) {
        json.member("done", done)
        json.member("after", after?.description)
        json.member("refused_count", refusedCount)
        json.array("refused") { json in
            for row in refused {
                json.object { json in
                    json.member("original_transaction_id", row.id.description)
                    json.member("code", row.code)
                }
            }
        }
    }
}
