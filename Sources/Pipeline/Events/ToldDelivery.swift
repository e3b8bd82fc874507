import Encoding
import PurchaseModel
import Storage

/// What an event tells the shop to deliver, read back from the message that was made of it, and what the shop said.
struct ToldDelivery: Sendable {
    let key: TransactionKey
    let fence: Int64
    let progress: DeliveryProgress
    /// The event's place in its app's feed.
    let cursor: EventCursor

    /// `nil` for an event that delivers nothing.
    init?(_ event: EventRow, at cursor: EventCursor, _ progress: DeliveryProgress) {
        let types: [EventType] = [.deliveryGranted, .deliveryChanged, .deliveryRestored, .deliveryCompensated]
        guard types.contains(where: { $0.rawValue == event.type }),
            let object = try? JSONDocument(event.data).root.object, let delivery = object["delivery"]?.object,
            // Where all of it was taken back there is nothing to deliver.
            delivery["state"]?.string != FulfilmentState.reversed.rawValue,
            let id = delivery["delivery_id"]?.string.flatMap({ DeliveryID($0) }), let fence = delivery["fence"]?.int64
        else { return nil }
        key = id.key(app: event.app)
        self.fence = fence
        self.progress = progress
        self.cursor = cursor
    }

    /// What comes of it for the ledger.
    func decision(in situation: Situation, at now: Timestamp) -> Decision {
        guard progress == .acknowledged else {
            return decide(situation, noting: progress, of: key, fence: fence, at: now)
        }
        // What has changed since is told by an event of its own, which is acknowledged for itself.
        return (try? decide(situation, acknowledging: key, fence: fence, at: now)) ?? Decision()
    }
}
