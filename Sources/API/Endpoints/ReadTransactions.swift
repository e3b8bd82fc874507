import Encoding
import HTTP
import Pipeline
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
                try Listed(try reader.transactions(app: app, id: id), reader)
            }
            guard !found.transactions.isEmpty else { return Problem.notFound("transaction") }
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
            let page = try await store.read {
                reader throws(StoreFailure) -> (listed: Listed, next: TransactionCursor?)? in
                if let after = query.after {
                    let key = TransactionKey(app: app, realm: after.realm, id: after.id)
                    guard try !reader.transactions([key]).isEmpty else { return nil }
                }
                let page = try reader.transactions(
                    app: app,
                    customer: customer,
                    order: .newestFirst,
                    after: query.after,
                    limit: query.limit
                )
                return (try Listed(page.transactions, reader), page.next)
            }
            guard let page else { return ReadTransactions.invalid(.after) }
            return .json(.ok) { json in
                ReadTransactions.write(page.listed, into: &json)
                json.member("next", page.next?.text)
            }
        } catch {
            return Problem.store(error)
        }
    }

    private static func invalid(_ fault: PageQuery.Fault) -> HTTPResponse {
        Problem.response(.badRequest, code: "invalid_query", detail: fault.detail)
    }

    /// Transactions, and what each of them gave.
    private struct Listed: Sendable {
        let transactions: [RecordedTransaction]
        let fulfilments: [TransactionKey: Fulfilment]

        init(_ transactions: [RecordedTransaction], _ reader: any StoreReader) throws(StoreFailure) {
            self.transactions = transactions
            // In its chain, or by itself when the chain was not known at first.
            let chains = transactions.flatMap { recorded in
                [recorded.chain, ChainKey(app: recorded.app, realm: recorded.realm, original: recorded.id)]
            }
            fulfilments = Dictionary(
                try reader.fulfilments(Array(Set(chains))).map { ($0.transaction, $0) },
                uniquingKeysWith: { first, _ in first }
            )
        }
    }

    private static func write(_ listed: Listed, into json: inout JSONObjectWriter) {
        json.array("transactions") { json in
            for recorded in listed.transactions {
                json.object { json in
                    json.member("decision", standing(of: recorded).rawValue)
                    TransactionJSON.write(recorded, into: &json)
                    if let fulfilment = listed.fulfilments[recorded.key] {
                        json.object("fulfilment") { FulfilmentJSON.write(fulfilment, into: &$0) }
                    }
                }
            }
        }
    }
}
