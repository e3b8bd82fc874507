/// What Get Transaction History is asked for. Different fields narrow, several values of one field widen.
///
/// Source: Apple, *Get Transaction History*.
package struct HistoryQuery: Hashable, Sendable {
    /// Milliseconds since 1970, of purchases: the start counts, the end does not.
    package var startDate: Int64?
    package var endDate: Int64?
    package var productIDs: [String] = []
    package var productTypes: [AppleHistoryProductType] = []
    package var subscriptionGroups: [String] = []
    package var ownership: AppleOwnershipType?
    /// Only those that Apple took back, or only the others.
    package var revoked: Bool?
    /// By the moment of the last change, oldest first: so that the last revision can be kept, to ask for news later.
    package var isDescending = false

    package init() {}

    /// Names and values in the order in which they are sent.
    package var parameters: [(name: String, value: String)] {
        var parameters: [(name: String, value: String)] = []
        if let startDate { parameters.append(("startDate", String(startDate))) }
        if let endDate { parameters.append(("endDate", String(endDate))) }
        parameters += productIDs.map { ("productId", $0) }
        parameters += productTypes.map { ("productType", $0.rawValue) }
        parameters += subscriptionGroups.map { ("subscriptionGroupIdentifier", $0) }
        if let ownership { parameters.append(("inAppOwnershipType", ownership.rawValue)) }
        if let revoked { parameters.append(("revoked", revoked ? "true" : "false")) }
        if isDescending { parameters.append(("sort", "DESCENDING")) }
        return parameters
    }
}

/// Kinds of product in the words of Get Transaction History, which are others than in what Apple signs.
package struct AppleHistoryProductType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let autoRenewable = AppleHistoryProductType(rawValue: "AUTO_RENEWABLE")
    package static let nonRenewable = AppleHistoryProductType(rawValue: "NON_RENEWABLE")
    package static let consumable = AppleHistoryProductType(rawValue: "CONSUMABLE")
    package static let nonConsumable = AppleHistoryProductType(rawValue: "NON_CONSUMABLE")
}
