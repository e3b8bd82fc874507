import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// `/v1/deliveries`: what was given for a transaction, and that the shop has delivered it.
struct Deliveries: Sendable {
    let store: any Store

    /// `GET /v1/deliveries/{id}`
    func get(_ text: String, app: AppPolicy) async -> HTTPResponse {
        guard let id = DeliveryID(text), app.shows(id.realm) else { return Problem.notFound("delivery") }
        do throws(StoreFailure) {
            let found = try await store.read { reader throws(StoreFailure) -> Fulfilment? in
                guard let recorded = try reader.transactions([id.key(app: app.id)]).first else { return nil }
                let alone = ChainKey(app: app.id, realm: id.realm, original: id.transaction)
                return try reader.fulfilments([recorded.chain, alone]).first { $0.transaction == recorded.key }
            }
            guard let found else { return Problem.notFound("delivery") }
            return .json(.ok) { FulfilmentJSON.write(found, into: &$0) }
        } catch {
            return Problem.store(error)
        }
    }

    /// `POST /v1/deliveries/{id}/ack` with the `fence` of what was delivered.
    static func acknowledge(
        _ change: Gate.Change,
        _ transaction: any StoreTransaction
    ) throws(StoreFailure) -> HTTPResponse {
        guard let id = change.path["id"].flatMap({ DeliveryID($0) }), change.app.shows(id.realm) else {
            return Problem.notFound("delivery")
        }
        let fence: Int64
        do throws(RequestBody.Fault) {
            let body = try RequestBody(change.request.body, members: ["fence"])
            fence = try RequestBody.needed(body.whole("fence", 1...Int64.max), "fence")
        } catch {
            return error.response
        }
        let result = try LedgerRequests.acknowledge(
            id.key(app: change.app.id),
            fence: fence,
            at: change.now,
            in: transaction
        )
        switch result {
        case .success(let fulfilment): return .json(.ok) { FulfilmentJSON.write(fulfilment, into: &$0) }
        case .failure(let fault): return Problem.request(fault, "delivery")
        }
    }

    /// `GET /v1/purchases/waiting`: what was bought and waits for an order, a customer or a catalogue.
    func waiting(_ query: String?, app: AppPolicy) async -> HTTPResponse {
        do throws(QueryFields.Fault) {
            let fields = try QueryFields(query, names: ["limit", "after"])
            let limit = try fields.limit(FulfilmentPage.limitMax)
            guard let text = fields["after"] else { return await waiting(after: nil, limit, app: app) }
            guard let cursor = FulfilmentCursor(text: text) else { throw .otherPage }
            return await waiting(after: cursor, limit, app: app)
        } catch {
            return error.response
        }
    }

    private func waiting(after cursor: FulfilmentCursor?, _ limit: Int, app: AppPolicy) async -> HTTPResponse {
        do throws(StoreFailure) {
            let page = try await store.read { reader throws(StoreFailure) in
                try reader.waitingFulfilments(app: app.id, on: app.sides, after: cursor, limit: limit)
            }
            return .json(.ok) { json in
                json.array("purchases") { json in
                    for fulfilment in page.fulfilments {
                        json.object { FulfilmentJSON.write(fulfilment, into: &$0) }
                    }
                }
                json.member("next", page.next?.text)
            }
        } catch {
            return Problem.store(error)
        }
    }
}

/// A place in the listing of what waits, as our answers write it.
extension FulfilmentCursor {
    init?(text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), maxSplits: 1)
        guard parts.count == 2, let original = TransactionID(String(decoding: parts[0], as: UTF8.self)),
            let (id, realm) = SidedNumber.read(parts[1])
        else { return nil }
        self.init(original: original, realm: realm, transaction: id)
    }

    var text: String { "\(original)-\(SidedNumber.text(transaction, realm))" }
}
