package import PurchaseModel

/// A place in the listing of an app's consumption requests.
package typealias ConsumptionCursor = TimeCursor<NotificationID>

extension ConsumptionRequest {
    var cursor: ConsumptionCursor { ConsumptionCursor(receivedAt, key.id) }
}

/// Which requests to list.
package struct ConsumptionFilter: Hashable, Sendable {
    /// `nil` for all.
    package var state: ConsumptionState?
    /// `nil` for all.
    package var transaction: TransactionID?
    package var realms: Set<Realm>

    package init(state: ConsumptionState? = nil, transaction: TransactionID? = nil, realms: Set<Realm>) {
        self.state = state
        self.transaction = transaction
        self.realms = realms
    }

    func includes(_ request: ConsumptionRequest) -> Bool {
        realms.contains(request.key.realm) && (state == nil || state == request.state)
            && (transaction == nil || transaction == request.transaction)
    }
}

/// Some of an app's requests, the newest first.
package struct ConsumptionPage: Hashable, Sendable {
    /// The most that one page holds.
    package static let limitMax = 100

    package var requests: [ConsumptionRequest]
    /// `nil` when there are no more.
    package var next: ConsumptionCursor?

    package init(requests: [ConsumptionRequest] = [], next: ConsumptionCursor? = nil) {
        self.requests = requests
        self.next = next
    }
}
