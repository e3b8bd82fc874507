import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// How subscriptions stand: a customer's, and one by its original transaction's number.
struct Subscriptions: Sendable {
    let store: any Store
    let clock: any WallClock

    /// `GET /v1/customers/{id}/subscriptions`: those that the customer owns or shares, by their original transactions.
    func subscriptions(of text: String, app: AppPolicy) async -> HTTPResponse {
        guard let customer = CustomerID(text) else { return Problem.notFound("customer") }
        do throws(StoreFailure) {
            let found = try await store.read { reader throws(StoreFailure) in
                try Listed(try reader.chains(app: app.id, customer: customer).filter { app.shows($0.realm) }, reader)
            }
            return .json(.ok) { json in
                json.member("customer_id", customer.text)
                write(found, to: customer, into: &json)
            }
        } catch {
            return Problem.store(error)
        }
    }

    /// `GET /v1/subscriptions/{id}`: one number on every side of every wall.
    func subscription(_ text: String, app: AppPolicy) async -> HTTPResponse {
        guard let id = TransactionID(text) else { return Problem.notFound("subscription") }
        do throws(StoreFailure) {
            let chains = Realm.known.filter(app.shows).map { ChainKey(app: app.id, realm: $0, original: id) }
            let found = try await store.read { reader throws(StoreFailure) in try Listed(chains, reader) }
            guard !found.rows.isEmpty else { return Problem.notFound("subscription") }
            return .json(.ok) { json in write(found, into: &json) }
        } catch {
            return Problem.store(error)
        }
    }

    /// Subscriptions in the order of the chains that were asked for, with their newest periods and their owners.
    private struct Listed: Sendable {
        let rows: [RecordedSubscription]
        let periods: [TransactionKey: RecordedTransaction]
        let owners: [ChainKey: Owner]

        init(_ chains: [ChainKey], _ reader: any StoreReader) throws(StoreFailure) {
            let found = Dictionary(grouping: try reader.subscriptions(chains), by: \.chain)
            rows = chains.compactMap { found[$0]?.first }
            let recorded = try reader.transactions(rows.compactMap(\.currentKey))
            periods = Dictionary(recorded.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
            let owners = try reader.owners(rows.map(\.chain))
            self.owners = Dictionary(owners.map { ($0.chain, $0) }, uniquingKeysWith: { first, _ in first })
        }
    }

    /// - Parameters:
    ///   - listed: what is shown.
    ///   - reader: whose list it is: of what is shared with her it is not told whose it is, nor the token that Apple signed.
    ///     `nil` when the shop asks.
    ///   - json: where to.
    private func write(_ listed: Listed, to reader: CustomerID? = nil, into json: inout JSONObjectWriter) {
        let now = clock.now
        json.array("subscriptions") { json in
            for row in listed.rows {
                let period = row.currentKey.flatMap { listed.periods[$0] }
                let found = PurchaseModel.fold(row.chain, period?.transaction, row.renewal, row.ends, at: now)
                guard let found else { continue }
                let owner = listed.owners[row.chain]?.customer
                let isHers = owner == reader
                // What was moved to her was signed for somebody else.
                let showsToken = reader == nil || isHers && period?.customer == reader
                json.object { json in
                    SubscriptionJSON.write(found, showsToken: showsToken, into: &json)
                    if reader == nil || isHers { json.member("customer_id", owner?.text) }
                    json.member("next_look_at", row.nextLook)
                }
            }
        }
    }
}
