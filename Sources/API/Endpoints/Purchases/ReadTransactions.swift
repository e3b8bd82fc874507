import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `GET /v1/transactions/{id}` and `GET /v1/customers/{id}/transactions`.
struct ReadTransactions: Sendable {
    let store: any Store

    /// One number may stand on several sides of the wall: all of them are answered.
    func transaction(_ text: String, app: AppPolicy) async -> HTTPResponse {
        guard let id = TransactionID(text) else { return Problem.notFound("transaction") }
        do throws(StoreFailure) {
            let found = try await store.read { reader throws(StoreFailure) in
                try Listed(try reader.transactions(app: app.id, id: id).filter { app.shows($0.realm) }, reader)
            }
            guard !found.transactions.isEmpty else { return Problem.notFound("transaction") }
            return .json(.ok) { ReadTransactions.write(found, under: app.terms, into: &$0) }
        } catch {
            return Problem.store(error)
        }
    }

    /// A page of a customer's transactions, the newest first; `?after=` takes the `next` of the page before.
    func transactions(of text: String, query: String?, app: AppPolicy) async -> HTTPResponse {
        guard let customer = CustomerID(text) else { return Problem.notFound("customer") }
        do throws(QueryFields.Fault) {
            let fields = try QueryFields(query, names: ["limit", "after"])
            let limit = try fields.limit(TransactionPage.limitMax)
            guard let text = fields["after"] else {
                return await transactions(of: customer, after: nil, limit, app: app)
            }
            guard let cursor = TransactionCursor(text: text) else { throw .otherPage }
            return await transactions(of: customer, after: cursor, limit, app: app)
        } catch {
            return error.response
        }
    }

    private func transactions(
        of customer: CustomerID,
        after cursor: TransactionCursor?,
        _ limit: Int,
        app: AppPolicy
    ) async -> HTTPResponse {
        do throws(StoreFailure) {
            let page = try await store.read {
                reader throws(StoreFailure) -> (listed: Listed, next: TransactionCursor?)? in
                // Of another one's, or another store's, is said as little as of none: any app may ask.
                if let cursor {
                    guard app.shows(cursor.realm), try reader.holds(customer, app: app.id, cursor) else { return nil }
                }
                let page = try reader.transactions(
                    app: app.id,
                    customer: customer,
                    order: .newestFirst,
                    after: cursor,
                    limit: limit,
                    where: app.shows
                )
                return (try Listed(page.transactions, reader, for: customer), page.next)
            }
            guard let page else { return QueryFields.Fault.otherPage.response }
            return .json(.ok) { json in
                ReadTransactions.write(page.listed, under: app.terms, into: &json)
                json.member("next", page.next?.text)
            }
        } catch {
            return Problem.store(error)
        }
    }

    /// Transactions, and what each of them gave.
    private struct Listed: Sendable {
        /// Whose list it is; `nil` when it is nobody's.
        let customer: CustomerID?
        let transactions: [RecordedTransaction]
        let fulfilments: [TransactionKey: Fulfilment]

        init(
            _ transactions: [RecordedTransaction],
            _ reader: any StoreReader,
            for customer: CustomerID? = nil
        ) throws(StoreFailure) {
            self.customer = customer
            self.transactions = transactions
            fulfilments = try reader.fulfilments(of: transactions)
        }
    }

    private static func write(_ listed: Listed, under terms: AppTerms, into json: inout JSONObjectWriter) {
        json.array("transactions") { json in
            for recorded in listed.transactions {
                json.object { json in
                    let standing = standing(of: recorded, listed.fulfilments[recorded.key], under: terms)
                    json.member("decision", standing.rawValue)
                    TransactionJSON.write(recorded, to: listed.customer, into: &json)
                    if let fulfilment = listed.fulfilments[recorded.key] {
                        json.object("fulfilment") { FulfilmentJSON.write(fulfilment, to: listed.customer, into: &$0) }
                    }
                }
            }
        }
    }
}

/// A place in a listing as our answers write it: whoever has the page knows all of it.
extension TransactionCursor {
    init?(text: String) {
        guard let (id, realm) = SidedNumber.read(text.utf8) else { return nil }
        self.init(realm: realm, id: id)
    }

    var text: String { SidedNumber.text(id, realm) }
}

extension StoreReader {
    /// Whether a purchase is one that a customer owns or shares, whoever has shown it first.
    fileprivate func holds(
        _ customer: CustomerID,
        app: AppID,
        _ cursor: TransactionCursor
    ) throws(StoreFailure) -> Bool {
        let key = TransactionKey(app: app, realm: cursor.realm, id: cursor.id)
        let chains = try fulfilments(of: try transactions([key])).values.map(\.chain)
        return try owners(chains).contains { $0.mayUse(customer) }
    }
}
