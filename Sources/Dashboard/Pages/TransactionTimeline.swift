import Encoding
import Pipeline
import PurchaseModel
import Storage

/// What happened to a transaction, the oldest first: when it happened, when we learned of it, and what shows it.
struct TransactionTimeline: Sendable {
    /// How many of a customer's last events are looked at for those of one purchase.
    private static let lookedAtMax: Int64 = 100

    private struct Step: Sendable {
        var happenedAt: Timestamp
        var learnedAt: Timestamp
        /// Whether these moments are known to be its own, and not only no later than it.
        var isDated = true
        var text: String
        var evidence: Evidence
    }

    /// What a step rests on.
    private enum Evidence: Sendable {
        case proof(EvidenceRow)
        case notification(NotificationKey)
        case event(EventID)
        case order(OrderKey)
        /// A row of the ledger, and no message.
        case ledger
    }

    private var steps: [Step] = []
    /// The orders of which the shop was told, among what is looked at, that the transaction pays them.
    private var ordersPaid: Set<OrderID> = []

    /// - Parameters:
    ///   - recorded: the transaction.
    ///   - proofs: what showed it first, and what changed it last.
    ///   - fulfilment: what was given for it.
    ///   - owner: whose its chain is.
    ///   - notifications: what Apple told of its chain.
    ///   - reader: where the rest is.
    /// - Throws: `StoreFailure`.
    init(
        _ recorded: RecordedTransaction,
        proofs: (first: EvidenceRow?, latest: EvidenceRow?),
        _ fulfilment: Fulfilment?,
        _ owner: Owner?,
        _ notifications: [KeptNotification],
        _ reader: any StoreReader
    ) throws(StoreFailure) {
        addSigned(recorded, proofs)
        add(recorded.recordedAt, "Recorded", proofs.first.map(Evidence.proof) ?? .ledger)
        if let fulfilment { try add(fulfilment, reader) }
        if let owner {
            let words = owner.previous.map { "Transferred from \($0.text) to \(owner.customer.text)" }
            add(owner.since, words ?? "Belongs to \(owner.customer.text)", .ledger)
        }
        for row in notifications {
            let subtype = row.subtype.map { " \($0)" } ?? ""
            let words = "Apple told of the chain: \(row.type)\(subtype)"
            add(row.signedAt, learned: row.receivedAt, words, .notification(row.key))
        }
        let customers = [fulfilment?.customer, owner?.customer, owner?.previous]
        for customer in Set(customers) {
            try addEvents(of: StreamKey(app: recorded.app, realm: recorded.realm, customer: customer), recorded, reader)
        }
        addPayment(fulfilment, recorded)
    }

    private mutating func add(
        _ happened: Timestamp,
        learned: Timestamp? = nil,
        _ text: String,
        _ evidence: Evidence
    ) {
        steps.append(Step(happenedAt: happened, learnedAt: learned ?? happened, text: text, evidence: evidence))
    }

    private mutating func addSigned(
        _ recorded: RecordedTransaction,
        _ proofs: (first: EvidenceRow?, latest: EvidenceRow?)
    ) {
        let transaction = recorded.transaction
        let first = proofs.first.map(Evidence.proof) ?? .ledger
        let latest = proofs.latest.map(Evidence.proof) ?? first
        let (learned, changed) = (recorded.recordedAt, proofs.latest?.receivedAt ?? recorded.recordedAt)
        add(transaction.purchasedAt, learned: learned, "Bought, says Apple", first)
        if let proof = proofs.first {
            add(proof.receivedAt, "A proof came in (\(proof.format)) and was found \(proof.verdict)", .proof(proof))
        }
        add(transaction.signedAt, learned: changed, "Apple signed the newest that is known of it", latest)
        if let proof = proofs.latest, proof.digest != proofs.first?.digest {
            add(proof.receivedAt, "Another proof came in (\(proof.format)) and changed it", .proof(proof))
        }
        if let revocation = transaction.takenBack {
            let reason = revocation.reason.map { String($0) } ?? "not given"
            let part = revocation.share < Fulfilment.whole ? "\(Texts.part(revocation.share)) of it" : "it"
            add(revocation.at, learned: changed, "Apple took \(part) back, reason \(reason)", latest)
        }
        if transaction.isUpgraded {
            let at = transaction.revocation?.at ?? transaction.signedAt
            add(at, learned: changed, "An upgrade took its place", latest)
        }
    }

    private mutating func add(_ fulfilment: Fulfilment, _ reader: any StoreReader) throws(StoreFailure) {
        let given = TransactionPages.given(fulfilment)
        if let id = fulfilment.order {
            let key = OrderKey(app: fulfilment.transaction.app, id: id)
            if let order = try reader.orders([key]).first { add(order.placedAt, "Its order was placed", .order(key)) }
        }
        add(fulfilment.decidedAt, "Last changed, and stands as: \(given)", .ledger)
        if let at = fulfilment.reversedAt {
            add(at, "Taken back: \(Texts.part(fulfilment.reversed))", .ledger)
        }
    }

    /// That it pays an order, where no event says when: no row keeps that moment.
    private mutating func addPayment(_ fulfilment: Fulfilment?, _ recorded: RecordedTransaction) {
        guard let id = fulfilment?.order, !ordersPaid.contains(id) else { return }
        let match = fulfilment?.match.map { ", matched by \($0.rawValue)" } ?? ""
        add(recorded.recordedAt, "It pays order \(id.text)\(match)", .order(OrderKey(app: recorded.app, id: id)))
        steps[steps.count - 1].isDated = false
    }

    /// What the shop was told of it: what was granted, delivered, undone and transferred.
    private mutating func addEvents(
        of stream: StreamKey,
        _ recorded: RecordedTransaction,
        _ reader: any StoreReader
    ) throws(StoreFailure) {
        let last = try reader.lastEventSequences([stream])[stream] ?? 0
        for sequence in stride(from: max(last - Self.lookedAtMax, 0) + 1, through: last, by: 1) {
            guard let event = try reader.event(app: stream.app, id: EventRows.id(stream, sequence))?.event else {
                continue
            }
            let subjects = EventSubjects(event)
            guard subjects.isAbout(recorded) else { continue }
            if event.type == EventType.orderPaid.rawValue, let order = subjects.order { ordersPaid.insert(order) }
            add(event.happenedAt, learned: event.learnedAt, "Told: \(event.type)", .event(event.id))
        }
    }

    /// What is of one moment stands in the order in which we learned of it, and then as one follows from the other.
    private var ordered: [Step] {
        steps.enumerated().sorted { left, right in
            let (one, other) = (left.element, right.element)
            return (one.happenedAt, one.learnedAt, left.offset) < (other.happenedAt, other.learnedAt, right.offset)
        }.map(\.element)
    }

    var html: HTML {
        Table("What happened, the oldest first", ["Happened", "Learned", "What", "Evidence"]) {
            for step in ordered {
                element("tr") {
                    element("td") { step.isDated ? Texts.moment(step.happenedAt) : HTML(text: "–") }
                    element("td") { step.isDated ? Texts.moment(step.learnedAt) : HTML(text: "–") }
                    element("th", .word("scope", "row")) { element("bdi") { step.text } }
                    element("td") { Self.link(step.evidence) }
                }
            }
        }.html
            + element("p", .class("quiet")) {
                "Of what was told, each customer's last \(Texts.count(Int(Self.lookedAtMax))) events are looked at."
            }
    }

    private static func link(_ evidence: Evidence) -> HTML {
        switch evidence {
        case .proof(let row): HTML(text: "\(row.format), SHA-256 \(Hexadecimal.encode(row.digest.bytes).prefix(16))…")
        case .notification(let key): Links.link(OneNotification.address(key), "notification")
        case .event(let id): HTML(text: id.text)
        case .order(let key): Links.link(Links.order(key.app, key.id), "order")
        case .ledger: HTML(text: "ledger")
        }
    }
}
