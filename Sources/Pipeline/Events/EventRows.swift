import Crypto
import Encoding
package import PurchaseModel
package import Storage

/// What a decision tells the shop, as rows of the outbox: each is made once, and every message about it says the same.
package enum EventRows {
    /// So many rows are made at once of a long receipt. Each has a text of its own, and all of them would be larger than the
    /// receipt; but each piece asks its app's feed anew.
    package static let pieceMax = 128
    /// The member that says of an event that some of its own members were too long, and are not here.
    static let isThin = "is_thin"

    package static func rows(_ events: [LedgerEvent]) -> [EventRow] {
        var told = ToldTransaction()
        return events.map { row($0, &told) }
    }

    /// Adds events to the outbox: the last that is done in a write. Those of many short proofs go at once.
    ///
    /// Those of one app follow each other as they are given. Apps come in the order of their names, as they do within one
    /// piece, so that two writers never wait for each other crosswise.
    ///
    /// - Parameters:
    ///   - events: what is told.
    ///   - inPieces: whether a proof among them tells more than ``pieceMax``.
    ///   - transaction: the write.
    /// - Throws: what the store throws.
    package static func append(
        _ events: [LedgerEvent],
        inPieces: Bool,
        to transaction: any StoreTransaction
    ) throws(StoreFailure) {
        guard inPieces else {
            if !events.isEmpty { try transaction.append(rows(events)) }
            return
        }
        for app in Set(events.map(\.stream.app)).sorted() {
            let own = events.indices.filter { events[$0].stream.app == app }
            for start in stride(from: 0, to: own.count, by: pieceMax) {
                try transaction.append(rows(own[start..<min(start + pieceMax, own.count)].map { events[$0] }))
            }
        }
    }

    private static func row(_ event: LedgerEvent, _ told: inout ToldTransaction) -> EventRow {
        EventRow(
            id: id(event.stream, event.sequence),
            app: event.stream.app,
            realm: event.stream.realm,
            customer: event.stream.customer,
            sequence: event.sequence,
            type: event.type.rawValue,
            happenedAt: event.happenedAt,
            learnedAt: event.learnedAt,
            data: data(event.subject, &told)
        )
    }

    /// The same for the same event, whoever makes it and however often: its place in its stream.
    package static func id(_ stream: StreamKey, _ sequence: Int64) -> EventID {
        // None of the parts has a NUL in it, which stands between each two.
        var place: [UInt8] = []
        place.reserveCapacity(128)
        for part in [stream.app.text, stream.realm.environment.rawValue, stream.realm.isTestSigned ? "test" : ""] {
            place.append(contentsOf: part.utf8)
            place.append(0)
        }
        if let customer = stream.customer { place.append(contentsOf: customer.text.utf8) }
        place.append(0)
        place.append(contentsOf: String(sequence).utf8)
        let hash = Digest.sha256(place)
        return EventID(checked: Hexadecimal.encode(hash.span.extracting(first: 16), after: EventID.prefix))
    }

    /// What only this kind of event says; the message around it is made when it is sent.
    private static func data(_ subject: EventSubject, _ told: inout ToldTransaction) -> [UInt8] {
        let whole = JSONWriter.object(reserving: 1_536) { write(subject, &told, into: &$0) }
        guard whole.count > EventRow.dataBytesMax else { return whole }
        switch subject {
        case .fulfilment(let fulfilment, _):
            // The texts that Apple signed may be long: the delivery says what matters.
            let delivery = JSONWriter.object { write(.fulfilment(fulfilment, nil), &told, into: &$0) }
            return delivery.count > EventRow.dataBytesMax ? thin(fulfilment) : delivery
        case .subscription(let subscription, _):
            return JSONWriter.object { write(.subscription(subscription, nil), &told, into: &$0) }
        case .announcement(let heard): return JSONWriter.object { write(heard, isWhole: false, into: &$0) }
        case .order, .transfer, .posting, .entitlement, .consumption, .submission: return whole
        }
    }

    /// A delivery of so many goods that no event has room for them: without any, and it says so. Everything else that it says
    /// is bounded. An event that cannot be kept would have its purchase or its refund refused, however genuine.
    private static func thin(_ fulfilment: Fulfilment) -> [UInt8] {
        JSONWriter.object { json in
            json.member(isThin, true)
            json.object("delivery") { FulfilmentJSON.write(fulfilment, showsGoods: false, into: &$0) }
        }
    }

    private static func write(
        _ subject: EventSubject,
        _ told: inout ToldTransaction,
        into json: inout JSONObjectWriter
    ) {
        switch subject {
        case .fulfilment(let fulfilment, let recorded):
            json.object("delivery") { FulfilmentJSON.write(fulfilment, into: &$0) }
            if let recorded { json.member("transaction", told.object(of: recorded)) }
        case .order(let order):
            json.object("order") { OrderJSON.write(order, into: &$0) }
        case .transfer(let chain, let old, let new):
            json.object("transfer") { json in
                json.member("original_transaction_id", chain.original.description)
                json.member("from", old.text)
                json.member("to", new.text)
            }
        case .subscription(let subscription, let recorded):
            json.object("subscription") { SubscriptionJSON.write(subscription, into: &$0) }
            if let recorded { json.member("transaction", told.object(of: recorded)) }
        case .posting(let posting, let wallet):
            json.object("posting") { PostingJSON.write(posting, into: &$0) }
            json.member("balance", wallet.balance)
        case .entitlement(let row):
            json.object("granted_entitlement") { GrantedEntitlementJSON.write(row, into: &$0) }
        case .consumption(let request):
            json.object("consumption_request") { ConsumptionJSON.write(request, into: &$0) }
        case .announcement(let heard): write(heard, isWhole: true, into: &json)
        case .submission(let settled):
            json.object("submission") { SubmissionJSON.write(settled, into: &$0) }
        }
    }

    private static func write(_ heard: Announcement, isWhole: Bool, into json: inout JSONObjectWriter) {
        json.object("notification") { AnnouncementJSON.write(heard, isWhole: isWhole, into: &$0) }
    }
}

/// The transaction that was told of last. Where a proof is of one purchase, as most are, what is told of it and what of its
/// subscription come one after the other, and both show it.
private struct ToldTransaction {
    private var last: (recorded: RecordedTransaction, object: WrittenObject)?

    mutating func object(of recorded: RecordedTransaction) -> WrittenObject {
        if let last, last.recorded == recorded { return last.object }
        let object = JSONWriter.written(reserving: 1_024) { TransactionJSON.write(recorded, into: &$0) }
        last = (recorded, object)
        return object
    }
}
