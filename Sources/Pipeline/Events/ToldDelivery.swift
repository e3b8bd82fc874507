import Encoding
import PurchaseModel
import Storage

/// What an event tells the shop to deliver: read back from the message that was made of it.
struct ToldDelivery {
    let key: TransactionKey
    let fence: Int64

    /// `nil` for an event that delivers nothing.
    init?(_ event: EventRow) {
        let types: [EventType] = [.deliveryGranted, .deliveryChanged, .deliveryRestored]
        guard types.contains(where: { $0.rawValue == event.type }),
            let object = try? JSONDocument(event.data).root.object, let delivery = object["delivery"]?.object,
            let id = delivery["delivery_id"]?.string.flatMap({ DeliveryID($0) }), let fence = delivery["fence"]?.int64
        else { return nil }
        key = id.key(app: event.app)
        self.fence = fence
    }
}
