import PurchaseModel
import Storage

/// A transaction as an address names it.
struct ActionPlace: Sendable {
    let app: AppID
    let realm: Realm
    let id: TransactionID

    /// By `app`, `side` and `id`.
    init?(_ fields: FormFields) {
        guard let app = AppID(fields["app"]), let id = TransactionID(fields["id"]),
            let realm = Side.realm(fields["side"])
        else { return nil }
        (self.app, self.realm, self.id) = (app, realm, id)
    }

    var key: TransactionKey { TransactionKey(app: app, realm: realm, id: id) }

    var back: Address { Links.transaction(app, id) }

    var hidden: [(name: StaticString, value: String)] {
        [
            (name: "app", value: app.text), (name: "side", value: Side.name(realm)),
            (name: "id", value: id.description),
        ]
    }

    /// For the audit log.
    var subject: String { "transaction \(id) of \(app.text), \(Texts.realm(realm))" }

    /// What became of it, wherever it stands.
    func fulfilment(
        of recorded: RecordedTransaction,
        _ reader: any StoreReader
    ) throws(StoreFailure) -> Fulfilment? {
        try reader.fulfilments(of: [recorded])[key]
    }
}
