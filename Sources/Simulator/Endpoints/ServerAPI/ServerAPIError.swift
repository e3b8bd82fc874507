import Encoding
package import HTTP

/// The errors of Apple's Server API, by their codes: the first three digits are the HTTP status.
///
/// Source: Apple, *App Store Server API*, error codes, up to version 1.22. Codes that Apple's pages do not print are
/// marked; their messages are ours.
package enum ServerAPIError: Int, Error, Hashable, Sendable, CaseIterable {
    case generalBadRequest = 4_000_000
    case invalidAppIdentifier = 4_000_002
    case invalidRequestRevision = 4_000_005
    case invalidTransactionID = 4_000_006
    case invalidOriginalTransactionID = 4_000_008
    case invalidExtendByDays = 4_000_009
    case invalidExtendReasonCode = 4_000_010
    case invalidRequestIdentifier = 4_000_011
    case startDateTooFarInPast = 4_000_012
    case startDateAfterEndDate = 4_000_013
    case invalidPaginationToken = 4_000_014
    case invalidStartDate = 4_000_015
    case invalidEndDate = 4_000_016
    case paginationTokenExpired = 4_000_017
    case invalidNotificationType = 4_000_018
    case multipleFiltersSupplied = 4_000_019
    case invalidTestNotificationToken = 4_000_020
    case invalidSort = 4_000_021
    case invalidProductType = 4_000_022
    case invalidProductID = 4_000_023
    case invalidSubscriptionGroup = 4_000_024
    case invalidExcludeRevoked = 4_000_025
    case invalidOwnershipType = 4_000_026
    case emptyStorefrontList = 4_000_027
    case invalidStorefront = 4_000_028
    case invalidRevoked = 4_000_030
    case invalidStatus = 4_000_031
    case invalidAccountTenure = 4_000_032
    case invalidAppAccountToken = 4_000_033
    case invalidConsumptionStatus = 4_000_034
    case invalidCustomerConsented = 4_000_035
    case invalidDeliveryStatus = 4_000_036
    case invalidLifetimeDollarsPurchased = 4_000_037
    case invalidLifetimeDollarsRefunded = 4_000_038
    case invalidPlatform = 4_000_039
    case invalidPlayTime = 4_000_040
    case invalidSampleContentProvided = 4_000_041
    case invalidUserStatus = 4_000_042
    case invalidRefundPreference = 4_000_044
    case transactionTypeNotSupported = 4_000_047
    case appTransactionNotSupported = 4_000_048
    case invalidAppAccountTokenUUID = 4_000_183
    case familyTransactionNotSupported = 4_000_185
    case notOriginalTransactionID = 4_000_187
    /// Apple prints no code.
    case consumptionPercentageOutOfRange = 4_000_207
    /// Apple prints no code.
    case undeliveredConsumptionNonZero = 4_000_208
    case consumptionPercentageOfSubscription = 4_000_209
    case invalidGroupID = 4_000_225
    /// Apple prints no code.
    case invalidLimit = 4_000_226
    case assignedTransactionNotSupported = 4_000_227
    case extensionIneligible = 4_030_004
    case extensionsUsedUp = 4_030_005
    case familySharedExtension = 4_030_007
    case assignedExtension = 4_030_028
    case accountNotFound = 4_040_001
    case accountNotFoundRetryable = 4_040_002
    case appNotFound = 4_040_003
    case appNotFoundRetryable = 4_040_004
    case originalTransactionNotFound = 4_040_005
    case originalTransactionNotFoundRetryable = 4_040_006
    case notificationURLNotFound = 4_040_007
    case testNotificationNotFound = 4_040_008
    case statusRequestNotFound = 4_040_009
    case transactionNotFound = 4_040_010
    case appTransactionDoesNotExist = 4_040_019
    case groupNotFound = 4_040_022
    case rateLimitExceeded = 4_290_000
    case generalInternal = 5_000_000
    case generalInternalRetryable = 5_000_001
    /// Not Apple's: an endpoint that Apple has and this store has not.
    case notSimulated = 5_010_000

    package var status: HTTPStatus { HTTPStatus(rawValue: rawValue / 10_000) }

    /// Apple's sentence.
    package var message: String {
        guard let message = Self.messages[self] else { preconditionFailure("\(self) has no message") }
        return message
    }

    /// `{"errorCode":…,"errorMessage":"…"}`.
    package var response: HTTPResponse {
        .answer(status) { json in
            json.member("errorCode", rawValue)
            json.member("errorMessage", message)
        }
    }
}
