import Encoding
import HTTP
import PurchaseModel

// Send Consumption Information, in both versions. Fields are checked before the transaction is looked for.
extension ServerAPI {
    func consumption(_ call: MerchantCall) throws(ServerAPIError) -> HTTPResponse {
        let id = try call.id()
        let request = try ConsumptionRequest(call.body())
        return try tell(id, call, request.preference, percentage: request.percentage) { sold throws(ServerAPIError) in
            if sold.purchasedBy != nil { throw .familyTransactionNotSupported }
            try request.check(against: sold)
        }
    }

    func firstConsumption(_ call: MerchantCall) throws(ServerAPIError) -> HTTPResponse {
        let id = try call.id()
        let preference = try FirstConsumptionRequest.preference(call.body())
        return try tell(id, call, preference, percentage: nil) { sold throws(ServerAPIError) in
            guard sold.fact.kind == .consumable || sold.isSubscription else { throw .transactionTypeNotSupported }
        }
    }

    private func tell(
        _ id: String,
        _ call: MerchantCall,
        _ preference: Act.RefundDecision?,
        percentage: Int?,
        _ check: (SoldTransaction) throws(ServerAPIError) -> Void
    ) throws(ServerAPIError) -> HTTPResponse {
        try simulator.change { store throws(ServerAPIError) in
            let sold = try store.purchase(id, for: call)
            try check(sold)
            let told = Act.Consumption(preference: preference, percentage: percentage, body: call.bodyBytes)
            do throws(ActRefusal) {
                _ = try store.perform(.sendConsumption(sold.id, told))
            } catch {
                throw .transactionNotFound
            }
        }
        return HTTPResponse(.accepted)
    }
}

/// The second version's body. Source: Apple, *ConsumptionRequest*.
private struct ConsumptionRequest: Sendable {
    private(set) var preference: Act.RefundDecision?
    private(set) var percentage: Int?
    private var isDelivered: Bool

    init(_ body: JSONObject) throws(ServerAPIError) {
        guard body.given("customerConsented")?.bool == true else { throw .invalidCustomerConsented }
        guard body.given("sampleContentProvided")?.bool != nil else { throw .invalidSampleContentProvided }
        guard let status = body.given("deliveryStatus")?.string, Self.deliveryStatuses.contains(status) else {
            throw .invalidDeliveryStatus
        }
        isDelivered = status == "DELIVERED"
        if let value = body.given("refundPreference") {
            guard let text = value.string, let known = Self.preferences[text] else { throw .invalidRefundPreference }
            preference = known
        }
        if let value = body.given("consumptionPercentage") {
            guard let number = value.int64, (0...100_000).contains(number) else {
                throw .consumptionPercentageOutOfRange
            }
            percentage = Int(number)
        }
    }

    /// What depends on how the product is sold. Apple reckons a subscription's share itself.
    func check(against sold: SoldTransaction) throws(ServerAPIError) {
        guard let percentage else { return }
        if sold.isSubscription { throw .consumptionPercentageOfSubscription }
        if !isDelivered, percentage != 0 { throw .undeliveredConsumptionNonZero }
        if case .prorated? = preference, !(1..<100_000).contains(percentage) { throw .consumptionPercentageOutOfRange }
    }

    private static let deliveryStatuses: Set = [
        "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM", "UNDELIVERED_SERVER_OUTAGE",
        "UNDELIVERED_OTHER",
    ]
    private static let preferences: [String: Act.RefundDecision] = [
        "DECLINE": .declined, "GRANT_FULL": .full, "GRANT_PRORATED": .prorated(percentage: nil),
    ]
}

/// The first version's body. Source: Apple, *ConsumptionRequestV1*.
private enum FirstConsumptionRequest {
    /// Numbers that must be there, with the highest of each; 0 is undeclared or the first of a list.
    private static let numbers: [(name: String, max: Int64, fault: ServerAPIError)] = [
        ("accountTenure", 7, .invalidAccountTenure), ("consumptionStatus", 3, .invalidConsumptionStatus),
        ("deliveryStatus", 5, .invalidDeliveryStatus),
        ("lifetimeDollarsPurchased", 7, .invalidLifetimeDollarsPurchased),
        ("lifetimeDollarsRefunded", 7, .invalidLifetimeDollarsRefunded), ("platform", 2, .invalidPlatform),
        ("playTime", 7, .invalidPlayTime), ("userStatus", 4, .invalidUserStatus),
    ]

    /// Checks all fields.
    ///
    /// - Parameter body: as it was sent.
    /// - Returns: what the merchant would like Apple to decide.
    /// - Throws: the error of the first field that is wrong.
    static func preference(_ body: JSONObject) throws(ServerAPIError) -> Act.RefundDecision? {
        guard body.given("customerConsented")?.bool == true else { throw .invalidCustomerConsented }
        for (name, max, fault) in numbers {
            guard let number = body.given(name)?.int64, (0...max).contains(number) else { throw fault }
        }
        guard let token = body.given("appAccountToken")?.string, token.utf8.isEmpty || AccountToken(token) != nil else {
            throw .invalidAppAccountToken
        }
        guard body.given("sampleContentProvided")?.bool != nil else { throw .invalidSampleContentProvided }
        guard let value = body.given("refundPreference") else { return nil }
        switch value.int64 {
        case 0?, 3?: return nil
        case 1?: return .full
        case 2?: return .declined
        default: throw .invalidRefundPreference
        }
    }
}
