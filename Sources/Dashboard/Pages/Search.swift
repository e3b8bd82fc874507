import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage

/// One box for any id. Every question is one look into an index, for each app.
struct Search: Sendable {
    let parts: DashboardParts

    private struct Hit: Sendable {
        let kind: String
        let app: AppID
        let text: String
        let address: Address
    }

    func find(_ visit: Visit) async throws(StoreFailure) -> HTTPResponse {
        // People copy an id with what stands around it.
        let bytes = visit.fields["q"].utf8.drop { $0 == 0x20 }.reversed().drop { $0 == 0x20 }.reversed()
        let wanted = String(decoding: Array(bytes), as: UTF8.self)
        let apps = parts.apps
        let hits = try await parts.store.read { reader throws(StoreFailure) -> [Hit] in
            var hits = try Self.submission(wanted, reader)
            for app in apps { hits += try Self.hits(wanted, app, reader) }
            return hits
        }
        if hits.count == 1, let hit = hits.first { return Notices.leave(for: hit.address) }
        return Page("Search", visit: visit) {
            if hits.isEmpty {
                element("p") {
                    "Nothing has the id "
                    element("bdi") { wanted }
                    ". Transactions, customers, orders, deliveries, submissions and events are looked for, by their whole ids."
                }
                strangers(wanted, visit)
            } else {
                Table("What has this id", ["What", "Of app", "Id"]) {
                    for hit in hits {
                        element("tr") {
                            element("td") { hit.kind }
                            element("td") { element("bdi") { hit.app.text } }
                            element("th", .word("scope", "row")) { Links.link(hit.address, hit.text) }
                        }
                    }
                }.html
            }
        }.response()
    }

    /// Who never bought anything has a page, too: something can be granted there.
    @HTMLBuilder private func strangers(_ wanted: String, _ visit: Visit) -> HTML {
        if visit.may(.operator), let customer = CustomerID(given: wanted) {
            element("p") {
                "As a customer without purchases, of: "
                for app in parts.apps {
                    Links.link(Links.customer(app, customer), app.text)
                    " "
                }
            }
        }
    }

    private static func submission(_ text: String, _ reader: any StoreReader) throws(StoreFailure) -> [Hit] {
        guard let bytes = Hexadecimal.decode(text), let id = SubmissionID(bytes),
            let kept = try reader.submission(id)
        else { return [] }
        let name = Hexadecimal.encode(id.bytes)
        return [Hit(kind: "Submission", app: kept.submission.app, text: name, address: Links.submission(name))]
    }

    private static func hits(_ text: String, _ app: AppID, _ reader: any StoreReader) throws(StoreFailure) -> [Hit] {
        var hits: [Hit] = []
        if let id = TransactionID(text) {
            let isKnown = !(try reader.transactions(app: app, id: id)).isEmpty
            if try isKnown || !reader.refusalSamples(of: .transaction(app, id), limit: 1).isEmpty {
                let kind = isKnown ? "Transaction" : "Transaction that refused proofs claim"
                hits.append(Hit(kind: kind, app: app, text: text, address: Links.transaction(app, id)))
            }
        }
        if let id = OrderID(text), !(try reader.orders([OrderKey(app: app, id: id)])).isEmpty {
            hits.append(Hit(kind: "Order", app: app, text: text, address: Links.order(app, id)))
        }
        if let customer = try customer(text, app, reader) {
            hits.append(Hit(kind: "Customer", app: app, text: customer.text, address: Links.customer(app, customer)))
        }
        if let key = DeliveryID(text)?.key(app: app), !(try reader.transactions([key])).isEmpty {
            hits.append(transaction("Delivery of transaction", key))
        }
        if let id = EventID(text), let event = try reader.event(app: app, id: id)?.event {
            if let key = EventSubjects(event).purchase, !(try reader.transactions([key])).isEmpty {
                hits.append(transaction("Event about transaction", key))
            } else if let customer = event.customer {
                let address = Links.customer(app, customer)
                hits.append(Hit(kind: "Event of customer", app: app, text: customer.text, address: address))
            }
        }
        return hits
    }

    private static func transaction(_ kind: String, _ key: TransactionKey) -> Hit {
        Hit(kind: kind, app: key.app, text: key.id.description, address: Links.transaction(key.app, key.id))
    }

    /// By name, or by the account token that was given with a purchase.
    private static func customer(
        _ text: String,
        _ app: AppID,
        _ reader: any StoreReader
    ) throws(StoreFailure) -> CustomerID? {
        if let halves = UUIDText.halves(text) {
            let key = TokenKey(app: app, token: AccountToken(high: halves.high, low: halves.low))
            if let customer = try reader.owners(of: [key]).first?.customer { return customer }
        }
        guard let id = CustomerID(text) else { return nil }
        if !(try reader.chains(app: app, customer: id)).isEmpty { return id }
        if !(try reader.refusalSamples(of: .customer(app, id), limit: 1)).isEmpty { return id }
        if !(try reader.grantedEntitlements(app: app, customer: id)).isEmpty { return id }
        if !(try reader.orders(app: app, customer: id, after: nil, limit: 1).orders.isEmpty) { return id }
        // Of whoever had something that is another's by now something was told.
        let streams = Realm.known.map { StreamKey(app: app, realm: $0, customer: id) }
        return try reader.lastEventSequences(streams).isEmpty ? nil : id
    }
}
