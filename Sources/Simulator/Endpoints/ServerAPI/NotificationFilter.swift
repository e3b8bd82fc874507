import Encoding
import PurchaseModel

/// Which notifications are wanted. Source: Apple, *NotificationHistoryRequest*.
struct NotificationFilter: Sendable {
    private(set) var startDate: Int64
    private(set) var endDate: Int64
    private var type: NoticeType?
    private var subtype: String?
    /// Any id of the one customer.
    private(set) var id: String?
    private var onlyFailures: Bool

    init(_ body: JSONObject) throws(ServerAPIError) {
        guard let startDate = body.given("startDate")?.int64, startDate >= 0 else { throw .invalidStartDate }
        guard let endDate = body.given("endDate")?.int64, endDate >= 0 else { throw .invalidEndDate }
        self.startDate = startDate
        self.endDate = endDate
        let typeValue = body.given("notificationType")
        let subtypeValue = body.given("notificationSubtype")
        let idValue = body.given("transactionId") ?? body.given("originalTransactionId")
        if typeValue != nil, idValue != nil { throw .multipleFiltersSupplied }
        if let typeValue {
            guard let known = typeValue.string.flatMap(NoticeType.init) else { throw .invalidNotificationType }
            type = known
        }
        if let subtypeValue {
            guard let type, let text = subtypeValue.string, Self.subtypes[type]?.contains(text) ?? false else {
                throw .invalidNotificationType
            }
            subtype = text
        }
        if let idValue {
            guard let text = idValue.string else { throw .invalidTransactionID }
            id = try MerchantCall.id(text, else: .invalidTransactionID)
        }
        guard let onlyFailures = (body.given("onlyFailures")).map(\.bool) ?? false else { throw .generalBadRequest }
        self.onlyFailures = onlyFailures
    }

    /// Checks the dates, and lets the stretch end now at the latest.
    mutating func fit(to now: Timestamp, in environment: StoreEnvironment) throws(ServerAPIError) {
        let days: Int64 = environment == .production ? 180 : 30
        guard startDate >= now.milliseconds - days * 86_400_000 else { throw .startDateTooFarInPast }
        guard startDate < endDate else { throw .startDateAfterEndDate }
        endDate = min(endDate, now.milliseconds)
    }

    func takes(_ sent: SentNotice, customer: String?) -> Bool {
        let date = sent.sentAt.milliseconds
        // What was sent just now counts, though the stretch ends now.
        return startDate <= date && date <= endDate
            && (type == nil || sent.notice.type == type) && (subtype == nil || sent.notice.subtype == subtype)
            && (customer == nil || sent.notice.customer == customer) && !(onlyFailures && sent.isDelivered)
    }

    /// The same for the same body, but for the moment at which a stretch into the future ends.
    func scope(endingAt end: Int64) -> [String] {
        [
            String(startDate), String(end), type?.rawValue ?? "", subtype ?? "", id ?? "", String(onlyFailures),
        ]
    }

    /// Source: Apple, *subtype*. The first two of an offer redeemed were sent until January 2024.
    static let subtypes: [NoticeType: Set<String>] = [
        .subscribed: ["INITIAL_BUY", "RESUBSCRIBE"],
        .didRenew: ["BILLING_RECOVERY"],
        .didChangeRenewalPreference: ["UPGRADE", "DOWNGRADE"],
        .didChangeRenewalStatus: ["AUTO_RENEW_ENABLED", "AUTO_RENEW_DISABLED"],
        .offerRedeemed: ["INITIAL_BUY", "RESUBSCRIBE", "UPGRADE", "DOWNGRADE"],
        .didFailToRenew: ["GRACE_PERIOD"],
        .expired: ["VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE", "PRODUCT_NOT_FOR_SALE"],
        .priceIncrease: ["PENDING", "ACCEPTED"],
        .renewalExtension: ["FAILURE", "SUMMARY"],
        .externalPurchaseToken: ["UNREPORTED", "CREATED", "ACTIVE_TOKEN_REMINDER"],
    ]
}

extension StoreNotice {
    /// Whom it is about, if it is about one customer.
    var customer: String? {
        switch subject {
        case .purchase(let purchase): purchase.transaction.customer
        case .consent(let customer): customer
        case .test, .extensionSummary, .externalPurchase: nil
        }
    }
}
