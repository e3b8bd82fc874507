/// A proof that had to wait, as it ended.
package struct SettledSubmission: Hashable, Sendable {
    /// Its id, in hexadecimal digits.
    package let name: String
    package let app: AppID
    package let customer: CustomerID?
    package let order: OrderID?
    package let receivedAt: Timestamp
    /// The word for how it ended; `nil` when nobody could tell in time.
    package let verdict: String?
    /// Whether something in it was decided in time, of which the shop has heard.
    package let isRecordedInPart: Bool
    package let settledAt: Timestamp

    package init(
        name: String,
        app: AppID,
        customer: CustomerID?,
        order: OrderID?,
        receivedAt: Timestamp,
        verdict: String?,
        isRecordedInPart: Bool = false,
        settledAt: Timestamp
    ) {
        self.name = name
        self.app = app
        self.customer = customer
        self.order = order
        self.receivedAt = receivedAt
        self.verdict = verdict
        self.isRecordedInPart = isRecordedInPart
        self.settledAt = settledAt
    }

    /// From which store it came is not known: it is told of under production, as an order is that nobody has paid.
    package var stream: StreamKey {
        StreamKey(app: app, realm: Realm(environment: .production, isTestSigned: false), customer: customer)
    }
}
