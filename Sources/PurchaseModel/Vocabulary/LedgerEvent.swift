/// Something that happened, for the shop to hear of: part of the commit that made it so.
package struct LedgerEvent: Hashable, Sendable {
    package let type: EventType
    package let stream: StreamKey
    /// From 1, without a gap, in each stream.
    package let sequence: Int64
    /// When it happened: Apple's moment where there is one.
    package let happenedAt: Timestamp
    /// When we learned of it.
    package let learnedAt: Timestamp
    package let subject: EventSubject

    package init(
        type: EventType,
        stream: StreamKey,
        sequence: Int64,
        happenedAt: Timestamp,
        learnedAt: Timestamp,
        subject: EventSubject
    ) {
        self.type = type
        self.stream = stream
        self.sequence = sequence
        self.happenedAt = happenedAt
        self.learnedAt = learnedAt
        self.subject = subject
    }
}

/// The catalogue of events. Stable words of the API.
package enum EventType: String, Hashable, Sendable, CaseIterable {
    /// A transaction was recorded, and its goods granted: deliver them.
    case deliveryGranted = "delivery.granted"
    /// How long the goods last has changed.
    case deliveryChanged = "delivery.changed"
    /// All or a part was taken back: undo that much.
    case deliveryCompensated = "delivery.compensated"
    /// What was taken back was given again.
    case deliveryRestored = "delivery.restored"
    case deliveryAcknowledged = "delivery.acknowledged"
    /// A transaction was recorded, and its goods wait for something.
    case purchaseWaiting = "purchase.waiting"
    /// A transaction was recorded, and gives nothing.
    case purchaseWithheld = "purchase.withheld"
    case orderPlaced = "order.placed"
    case orderPaid = "order.paid"
    case orderDelivered = "order.delivered"
    case orderExpired = "order.expired"
    case orderCancelled = "order.cancelled"
    case orderRefunded = "order.refunded"
    /// Another part of its payment was taken back than before, or none any more; it stands where it stood.
    case orderRefundChanged = "order.refund_changed"
    /// A chain went from one customer to another; each of them hears of it.
    case customerTransferred = "customer.transferred"
    case customerShared = "customer.shared"
    case balanceAdjusted = "balance.adjusted"
    /// A person gave a customer an entitlement without a purchase, or changed until when.
    case entitlementGranted = "entitlement.granted"
    /// A person has ended what was granted by hand.
    case entitlementRevoked = "entitlement.revoked"
    /// The first that is heard of a subscription that runs.
    case subscriptionStarted = "subscription.started"
    case subscriptionRenewed = "subscription.renewed"
    /// Its end has moved, without a new period.
    case subscriptionExtended = "subscription.extended"
    /// A renewal could not be charged; access goes on until the grace ends.
    case subscriptionGraceStarted = "subscription.grace_started"
    /// A renewal could not be charged; access is over.
    case subscriptionBillingRetryStarted = "subscription.billing_retry_started"
    /// What could not be charged was charged.
    case subscriptionRecovered = "subscription.recovered"
    case subscriptionExpired = "subscription.expired"
    /// It was bought again after its end.
    case subscriptionResubscribed = "subscription.resubscribed"
    /// Apple took the newest period back.
    case subscriptionRevoked = "subscription.revoked"
    /// Apple gave the newest period again.
    case subscriptionRestored = "subscription.restored"
    /// Another product of its group took the place of the one before.
    case subscriptionProductChanged = "subscription.product_changed"
    /// Whether it will renew, or as what, is another than before.
    case subscriptionRenewalPreferenceChanged = "subscription.renewal_preference_changed"
    /// The customer was asked to consent to a higher price.
    case subscriptionPriceIncreasePending = "subscription.price_increase_pending"
    /// The customer has consented to a higher price, or was told of one that needs no consent.
    case subscriptionPriceIncreaseAccepted = "subscription.price_increase_accepted"
    /// A customer wants money back, and Apple asks how far the purchase was delivered and used.
    case consumptionRequested = "consumption.requested"
    /// Apple was told.
    case consumptionAnswered = "consumption.answered"
    /// Apple is told nothing, and why.
    case consumptionClosed = "consumption.closed"
    /// Apple has sent a notification that no other event tells of.
    case notificationReceived = "notification.received"
    /// A proof that had to wait is decided, and nothing else tells so whoever brought it; or nobody could tell in time.
    case submissionSettled = "submission.settled"
}

/// What an event is about, as it was when it happened.
///
/// It lies apart from its event: a list of events would else have room for the largest subject in each of its places, and be
/// copied with it whenever it grows.
package indirect enum EventSubject: Hashable, Sendable {
    case fulfilment(Fulfilment, RecordedTransaction?)
    case order(Order)
    case transfer(chain: ChainKey, from: CustomerID, to: CustomerID)
    case posting(Posting, Wallet)
    case entitlement(GrantedEntitlement)
    case subscription(Subscription, RecordedTransaction?)
    case consumption(ConsumptionRequest)
    case announcement(Announcement)
    case submission(SettledSubmission)
}
