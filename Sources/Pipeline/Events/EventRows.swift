import Crypto
import Encoding
package import PurchaseModel
package import Storage

/// What a decision tells the shop, as rows of the outbox: each is the message that is sent, made once.
package enum EventRows {
    package static func rows(_ events: [LedgerEvent]) -> [EventRow] { events.map(row) }

    private static func row(_ event: LedgerEvent) -> EventRow {
        let id = id(of: event)
        return EventRow(
            id: id,
            app: event.stream.app,
            realm: event.stream.realm,
            customer: event.stream.customer,
            sequence: event.sequence,
            type: event.type.rawValue,
            happenedAt: event.happenedAt,
            learnedAt: event.learnedAt,
            data: message(event, id)
        )
    }

    /// The same for the same event, whoever makes it and however often: its place in its stream.
    private static func id(of event: LedgerEvent) -> EventID {
        let stream = event.stream
        // None of the parts has a NUL in it.
        let parts = [
            stream.app.text, stream.realm.environment.rawValue, stream.realm.isTestSigned ? "test" : "",
            stream.customer?.text ?? "", String(event.sequence),
        ]
        let hash = Digest.sha256(Array(parts.joined(separator: "\0").utf8))
        return EventID(checked: EventID.prefix + Hexadecimal.encode(hash.prefix(16)))
    }

    private static func message(_ event: LedgerEvent, _ id: EventID) -> [UInt8] {
        guard let type = WebhookEventType(event.type.rawValue) else {
            preconditionFailure("our own words are words")
        }
        let envelope = WebhookEnvelope(
            eventID: id.text,
            type: type,
            app: event.stream.app,
            realm: event.stream.realm,
            occurredAt: event.happenedAt,
            recordedAt: event.learnedAt,
            customer: event.stream.customer,
            sequence: event.sequence
        )
        return WebhookBody.bytes(envelope) { write(event.subject, into: &$0) }
    }

    private static func write(_ subject: EventSubject, into json: inout JSONObjectWriter) {
        switch subject {
        case .fulfilment(let fulfilment, let recorded):
            json.object("delivery") { FulfilmentJSON.write(fulfilment, into: &$0) }
            if let recorded { json.object("transaction") { TransactionJSON.write(recorded, into: &$0) } }
        case .order(let order):
            json.object("order") { OrderJSON.write(order, into: &$0) }
        case .transfer(let chain, let old, let new):
            json.object("transfer") { json in
                json.member("original_transaction_id", chain.original.description)
                json.member("from", old.text)
                json.member("to", new.text)
            }
        case .posting(let posting, let wallet):
            json.object("posting") { PostingJSON.write(posting, into: &$0) }
            json.member("balance", wallet.balance)
        }
    }
}
