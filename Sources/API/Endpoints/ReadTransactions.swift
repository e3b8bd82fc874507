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
        do throws(PageQuery.Fault) {
            return await transactions(of: customer, try PageQuery(query), app: app)
        } catch {
            return ReadTransactions.invalid(error)
        }
    }

    private func transactions(of customer: CustomerID, _ query: PageQuery, app: AppID) async -> HTTPResponse {
        do throws(StoreFailure) {
            let page = try await store.read { reader throws(StoreFailure) -> TransactionPage? in
                if let after = query.after {
                    let key = TransactionKey(app: app, realm: after.realm, id: after.id)
                    guard try !reader.transactions([key]).isEmpty else { return nil }
                }
                return try reader.transactions(
                    app: app,
                    customer: customer,
                    order: .newestFirst,
                    after: query.after,
                    limit: query.limit
                )
            }
            guard let page else { return ReadTransactions.invalid(.after) }
            return .json(.ok) { json in
                ReadTransactions.write(page.transactions, into: &json)
                json.member("next", page.next?.text)
            }
        } catch {
            return Problem.store(error)
        }
    }

    private static func invalid(_ fault: PageQuery.Fault) -> HTTPResponse {
        Problem.response(.badRequest, code: "invalid_query", detail: fault.detail)
    }

    private static func write(_ transactions: [RecordedTransaction], into json: inout JSONObjectWriter) {
        json.array("transactions") { json in
            for recorded in transactions {
                json.object { json in
                    json.member("decision", standing(of: recorded).rawValue)
                    TransactionJSON.write(recorded, into: &json)
                }
            }
        }
    }
}
