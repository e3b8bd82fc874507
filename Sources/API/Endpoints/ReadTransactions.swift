import Encoding
import HTTP
import PurchaseModel
import Storage

/// `GET /v1/transactions/{id}` and `GET /v1/customers/{id}/transactions`.
struct ReadTransactions: Sendable {
    let store: any Store

    /// One number may stand on several sides of the wall: all of them are answered.
    func transaction(_ text: String, app: AppID) async -> HTTPResponse {
        guard let id = TransactionID(text) else { return Problem.notFound("transaction") }
        do throws(StoreFailure) {
            let found = try await store.read { reader throws(StoreFailure) in
                try reader.transactions(app: app, id: id)
            }
            guard !found.isEmpty else { return Problem.notFound("transaction") }
            return .json(.ok) { ReadTransactions.write(found, into: &$0) }
        } catch {
            return Problem.store(error)
        }
    }

    /// A page of a customer's transactions, the newest first; `?after=` takes the `next` of the page before.
    func transactions(of text: String, query: String?, app: AppID) async -> HTTPResponse {
        guard let customer = CustomerID(text) else { return Problem.notFound("customer") }
        guard let place = PageQuery(query) else {
            return Problem.response(
                .badRequest,
                code: "invalid_query",
                detail: "limit is 1 to \(TransactionPage.limitMax), after is the next of another page."
            )
        }
        do throws(StoreFailure) {
            let page = try await store.read { reader throws(StoreFailure) in
                try reader.transactions(
                    app: app,
                    customer: customer,
                    order: .newestFirst,
                    after: place.after.map(TransactionCursor.init(sequence:)),
                    limit: place.limit
                )
            }
            return .json(.ok) { json in
                ReadTransactions.write(page.transactions, into: &json)
                json.member("next", page.next.map { String($0.sequence) })
            }
        } catch {
            return Problem.store(error)
        }
    }

    private static func write(_ transactions: [RecordedTransaction], into json: inout JSONObjectWriter) {
        json.array("transactions") { json in
            for recorded in transactions {
                json.object { json in
                    json.member("decision", standing(of: recorded, for: recorded.customer).rawValue)
                    TransactionJSON.write(recorded, into: &json)
                }
            }
        }
    }
}

/// `limit` and `after` of a listing; anything else in the query is an error.
struct PageQuery {
    private(set) var limit = 100
    private(set) var after: Int64?

    init?(_ query: String?) {
        guard let query, !query.isEmpty else { return }
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[1].count <= 19, let number = Int64(String(decoding: parts[1], as: UTF8.self)),
                number > 0
            else { return nil }
            switch String(decoding: parts[0], as: UTF8.self) {
            case "limit" where number <= TransactionPage.limitMax: limit = Int(number)
            case "after": after = number
            default: return nil
            }
        }
    }
}
