import Encoding
import Pipeline
import PurchaseModel
import Storage

/// What an event is about, by what stands in its message, which we wrote.
struct EventSubjects {
    /// The order that it tells of.
    let order: OrderID?
    private let app: AppID
    private let realm: Realm
    private let delivery: TransactionKey?
    private let transaction: TransactionID?
    private let payment: TransactionID?
    private let chain: TransactionID?

    init(_ event: EventRow) {
        let data = (try? JSONDocument(event.data))?.root.object
        func id(_ object: String, _ member: String) -> TransactionID? {
            data?[object]?.object?[member]?.string.flatMap { TransactionID($0) }
        }
        (app, realm) = (event.app, event.realm)
        order = data?["order"]?.object?["order_id"]?.string.flatMap { OrderID($0) }
        delivery = data?["delivery"]?.object?["delivery_id"]?.string.flatMap { DeliveryID($0) }?.key(app: event.app)
        transaction =
            id("transaction", "transaction_id") ?? id("consumption_request", "transaction_id")
            ?? id("notification", "transaction_id")
        payment = data?["order"]?.object?["payment"]?.object?["transaction_id"]?.string.flatMap { TransactionID($0) }
        chain = id("transfer", "original_transaction_id")
    }

    /// The purchase that it tells of, or the first of the chain; `nil` where it tells of none.
    var purchase: TransactionKey? {
        delivery ?? (transaction ?? payment ?? chain).map { TransactionKey(app: app, realm: realm, id: $0) }
    }

    /// Whether it tells of this purchase, or of whose its chain is.
    func isAbout(_ recorded: RecordedTransaction) -> Bool {
        delivery == recorded.key || transaction == recorded.id || payment == recorded.id
            || chain == recorded.chain.original
    }
}
