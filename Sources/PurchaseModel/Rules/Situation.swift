/// What makes a transaction the same one: the app, the side of the wall, Apple's number.
package struct TransactionKey: Hashable, Sendable {
    package let app: AppID
    package let realm: Realm
    package let id: TransactionID

    package init(app: AppID, realm: Realm, id: TransactionID) {
        self.app = app
        self.realm = realm
        self.id = id
    }
}

/// What the ledger already knows around some transactions. Read once for a whole batch; each decision is applied to
/// it, so that the next one in the batch sees it.
package struct Situation: Sendable {
    /// One app on one side of the wall: a proof never speaks of two.
    private struct Side: Hashable, Sendable {
        let app: AppID
        let realm: Realm
    }

    private var known: [Side: [TransactionID: RecordedTransaction]] = [:]

    package init(_ recorded: some Sequence<RecordedTransaction> = []) {
        for recorded in recorded { note(recorded) }
    }

    package subscript(key: TransactionKey) -> RecordedTransaction? {
        known[Side(app: key.app, realm: key.realm)]?[key.id]
    }

    /// All that is known of one app on one side of the wall: looked up once for a proof, not once for each transaction.
    package func transactions(app: AppID, realm: Realm) -> [TransactionID: RecordedTransaction] {
        known[Side(app: app, realm: realm)] ?? [:]
    }

    package mutating func apply(_ decision: Decision) {
        for change in decision.changes { note(change.recorded) }
    }

    private mutating func note(_ recorded: RecordedTransaction) {
        known[Side(app: recorded.app, realm: recorded.realm), default: [:]][recorded.id] = recorded
    }
}
