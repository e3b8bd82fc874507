/// What makes a request for consumption information the same one: the notification in which Apple asks.
package struct ConsumptionKey: Hashable, Sendable {
    package let app: AppID
    package let realm: Realm
    package let id: NotificationID

    package init(app: AppID, realm: Realm, id: NotificationID) {
        self.app = app
        self.realm = realm
        self.id = id
    }
}

/// That Apple asks how far a purchase was delivered and used, because a customer wants the money back; and what became
/// of it.
package struct ConsumptionRequest: Hashable, Sendable {
    package let key: ConsumptionKey
    package let transaction: TransactionID
    package let original: TransactionID
    package let product: ProductID
    /// In which of Apple's two forms it is answered.
    package let form: ConsumptionForm
    /// Apple's word for why the customer wants the money back.
    package let reason: String?
    package let askedAt: Timestamp
    package let receivedAt: Timestamp
    /// When an answer comes too late.
    package let deadline: Timestamp
    /// When it goes out, unless somebody objects.
    package internal(set) var answerAt: Timestamp
    package internal(set) var state: ConsumptionState
    /// Why it ended without an answer: a word of ours, or Apple's error code and its name.
    package internal(set) var ending: String?
    /// What a person wants Apple to decide; it counts before the app's policy.
    package internal(set) var preference: RefundPreference?
    /// What a person says of its delivery; it counts before what the ledger knows.
    package internal(set) var delivery: DeliveryAssertion?
    /// Whether a person wants it answered, whatever the app's policy.
    package internal(set) var isApproved: Bool
    /// Which of the jobs about it counts: each time that a person has it answered at once, there is another one.
    package internal(set) var turn: Int64
    /// As it was last on its way to Apple.
    package internal(set) var answer: ConsumptionAnswer?
    package internal(set) var settledAt: Timestamp?
    /// Counts its changes, so that of two writers who saw the same one only the first succeeds.
    package internal(set) var version: Int64

    package var transactionKey: TransactionKey { TransactionKey(app: key.app, realm: key.realm, id: transaction) }

    package var chain: ChainKey { ChainKey(app: key.app, realm: key.realm, original: original) }

    /// A request as it is new, or as a store holds it.
    package init(
        key: ConsumptionKey,
        transaction: TransactionID,
        original: TransactionID,
        product: ProductID,
        form: ConsumptionForm,
        reason: String?,
        askedAt: Timestamp,
        receivedAt: Timestamp,
        deadline: Timestamp,
        answerAt: Timestamp,
        state: ConsumptionState = .open,
        ending: String? = nil,
        preference: RefundPreference? = nil,
        delivery: DeliveryAssertion? = nil,
        isApproved: Bool = false,
        turn: Int64 = 1,
        answer: ConsumptionAnswer? = nil,
        settledAt: Timestamp? = nil,
        version: Int64 = 1
    ) {
        self.key = key
        self.transaction = transaction
        self.original = original
        self.product = product
        self.form = form
        self.reason = reason
        self.askedAt = askedAt
        self.receivedAt = receivedAt
        self.deadline = deadline
        self.answerAt = answerAt
        self.state = state
        self.ending = ending
        self.preference = preference
        self.delivery = delivery
        self.isApproved = isApproved
        self.turn = turn
        self.answer = answer
        self.settledAt = settledAt
        self.version = version
    }
}

/// Apple's two bodies. The numbers are in files that exist.
package enum ConsumptionForm: Int64, Hashable, Sendable, CaseIterable {
    /// For purchases made through Advanced Commerce, which the second one does not take.
    case first = 1
    case second = 2
}

/// Where a request stands. Stable words of the API.
package enum ConsumptionState: String, Hashable, Sendable, CaseIterable {
    case open
    /// The answer is on its way to Apple; whether it has arrived is not known.
    case sending
    case answered
    /// A person has said not to answer.
    case declined
    /// Its time was over before it could be answered.
    case lapsed
    /// Apple does not take the answer, and never will.
    case refused
    /// Apple has decided without one.
    case overtaken

    package var isSettled: Bool { self != .open && self != .sending }
}

/// What we would like Apple to decide. Stable words of the API.
package enum RefundPreference: String, Hashable, Sendable, CaseIterable {
    case decline
    case grantFull = "grant_full"
    case grantProrated = "grant_prorated"
}

/// Whether a purchase was delivered. Stable words of the API.
package enum DeliveryAssertion: String, Hashable, Sendable, CaseIterable {
    case delivered
    case undeliveredQualityIssue = "undelivered_quality_issue"
    case undeliveredWrongItem = "undelivered_wrong_item"
    case undeliveredServerOutage = "undelivered_server_outage"
    case undeliveredOther = "undelivered_other"
}

/// What Apple is told, and for each part of it why.
package struct ConsumptionAnswer: Hashable, Sendable {
    package var delivery: DeliveryAssertion
    package var deliveryBecause: AnswerReason
    package var isSampleProvided: Bool
    /// Thousandths of a percent, 0 to 100 000; `nil` where nothing is known, and where Apple reckons itself.
    package var percentage: Int?
    package var percentageBecause: AnswerReason
    package var preference: RefundPreference?
    package var preferenceBecause: AnswerReason
    /// By what the customer has consented.
    package var consentBecause: AnswerReason

    package init(
        delivery: DeliveryAssertion,
        because deliveryBecause: AnswerReason,
        isSampleProvided: Bool,
        percentage: Int?,
        because percentageBecause: AnswerReason,
        preference: RefundPreference?,
        because preferenceBecause: AnswerReason,
        consentBecause: AnswerReason
    ) {
        self.delivery = delivery
        self.deliveryBecause = deliveryBecause
        self.isSampleProvided = isSampleProvided
        self.percentage = percentage
        self.percentageBecause = percentageBecause
        self.preference = preference
        self.preferenceBecause = preferenceBecause
        self.consentBecause = consentBecause
    }
}

/// Why a part of an answer is what it is. Stable words of the API.
package enum AnswerReason: String, Hashable, Sendable, CaseIterable {
    // Whether it was delivered.
    case acknowledgedByShop = "acknowledged_by_shop"
    /// By another system, by whose books it is the customer's.
    case deliveredBeforeImport = "delivered_before_import"
    case shopWasTold = "shop_was_told"
    /// What it gives is in our books, where the customer has it from.
    case inTheBooks = "in_the_books"
    case givenWithAnother = "given_with_another_purchase"
    /// In answers of earlier versions; now nothing is said then.
    case shopWasNotTold = "shop_was_not_told"
    case shopCouldNotBeTold = "shop_could_not_be_told"
    case nothingWasGiven = "nothing_was_given"
    /// In answers of earlier versions, too.
    case notRecorded = "not_recorded"
    // How much of it was used.
    case appleReckons = "apple_reckons_subscriptions"
    case notDelivered = "not_delivered"
    /// What is missing of its amounts in the customer's balance.
    case usedOfBalance = "used_of_balance"
    case timePassed = "time_passed"
    case notKnown = "not_known"
    // What we would like.
    case byHand = "by_hand"
    case configuration
    case noWish = "no_wish"
    /// A share of the price can be given back only of what is used in part.
    case notDivisible = "not_divisible"
    // The consent.
    case consentRecorded = "consent_recorded"
    case consentByTerms = "consent_by_terms"
}
