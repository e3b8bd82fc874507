import PurchaseModel

/// Events, and what follows from them, as a memory store holds them.
struct MemoryOutbox: Sendable {
    struct EventPlace: Hashable, Sendable {
        var app: AppID
        var position: Int64
    }

    struct EventName: Hashable, Sendable {
        var app: AppID
        var id: EventID
    }

    struct DeliveryPlace: Hashable, Sendable {
        var endpoint: WebhookEndpointID
        var position: Int64
    }

    struct Endpoint: Sendable {
        var row: WebhookEndpoint
        /// Its place among all that were ever made.
        var number: Int
        var failingSince: Timestamp?
        var isDeleted = false
    }

    struct Delivery: Hashable, Sendable {
        var row: WebhookDelivery
        var realm: Realm
        var customer: CustomerID?
        /// The last lease's.
        var token: Int64 = 0

        var isOpen: Bool { row.state == .pending || row.state == .leased }
    }

    var events: [EventPlace: EventRow] = [:]
    var positions: [EventName: Int64] = [:]
    var lastPositions: [AppID: Int64] = [:]
    var lastSequences: [StreamKey: Int64] = [:]
    var endpoints: [WebhookEndpointID: Endpoint] = [:]
    var deliveries: [DeliveryPlace: Delivery] = [:]
    var attempts: [DeliveryPlace: [WebhookAttempt]] = [:]
}
