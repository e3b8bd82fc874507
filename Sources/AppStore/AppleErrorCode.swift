/// An error code of the App Store Server API: three digits of HTTP status, and four of its own.
///
/// An open value: a number that we do not know is judged by its HTTP status.
/// Source: Apple, *App Store Server API*, *Error codes*, up to version 1.22.
package struct AppleErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// An id of the right form that this store does not have. It may be the other store's; in the sandbox also one that is
    /// seconds old.
    package static let transactionNotFound = AppleErrorCode(rawValue: 4_040_010)

    /// An id that is none of a transaction's: not of the right form, or that of somebody's download of the app.
    package static let noTransactionID: Set<AppleErrorCode> = [.init(rawValue: 4_000_006), .init(rawValue: 4_000_048)]

    /// The token's bundle id is no app of its key's team.
    package static let appNotFound = AppleErrorCode(rawValue: 4_040_003)

    /// The app has no address for notifications in App Store Connect.
    package static let noNotificationURL = AppleErrorCode(rawValue: 4_040_007)

    /// The place where a listing was to go on is none.
    package static let invalidRevision = AppleErrorCode(rawValue: 4_000_005)

    /// Apple's name of the code; `nil` for one that is not in its pages.
    package var name: String? { AppleErrorCode.rows[rawValue]?.name }

    package var description: String { name.map { "\(rawValue) \($0)" } ?? String(rawValue) }

    /// What to do about it. Of 404 only those help to ask again that Apple says so of.
    package var remedy: AppStoreFailure.Remedy {
        if let row = AppleErrorCode.rows[rawValue] { return row.remedy }
        switch rawValue / 10_000 {
        case 403, 404: return .giveUp
        case 429, 500...: return .retry
        default: return .change
        }
    }

    private typealias Row = (name: String, remedy: AppStoreFailure.Remedy)

    private static let rows: [Int: Row] = {
        var rows = requests
        rows.merge(states) { first, _ in first }
        return rows
    }()

    /// 400: something about the request must change.
    private static let requests: [Int: Row] = [
        4_000_000: ("GeneralBadRequestError", .change),
        4_000_002: ("InvalidAppIdentifierError", .change),
        4_000_005: ("InvalidRequestRevisionError", .change),
        4_000_006: ("InvalidTransactionIdError", .change),
        4_000_008: ("InvalidOriginalTransactionIdError", .change),
        4_000_009: ("InvalidExtendByDaysError", .change),
        4_000_010: ("InvalidExtendReasonCodeError", .change),
        4_000_011: ("InvalidRequestIdentifierError", .change),
        4_000_012: ("StartDateTooFarInPastError", .change),
        4_000_013: ("StartDateAfterEndDateError", .change),
        4_000_014: ("InvalidPaginationTokenError", .change),
        4_000_015: ("InvalidStartDateError", .change),
        4_000_016: ("InvalidEndDateError", .change),
        4_000_017: ("PaginationTokenExpiredError", .change),
        4_000_018: ("InvalidNotificationTypeError", .change),
        4_000_019: ("MultipleFiltersSuppliedError", .change),
        4_000_020: ("InvalidTestNotificationTokenError", .change),
        4_000_021: ("InvalidSortError", .change),
        4_000_022: ("InvalidProductTypeError", .change),
        4_000_023: ("InvalidProductIdError", .change),
        4_000_024: ("InvalidSubscriptionGroupIdentifierError", .change),
        4_000_025: ("InvalidExcludeRevokedError", .change),
        4_000_026: ("InvalidInAppOwnershipTypeError", .change),
        4_000_027: ("InvalidEmptyStorefrontCountryCodeListError", .change),
        4_000_028: ("InvalidStorefrontCountryCodeError", .change),
        4_000_030: ("InvalidRevokedError", .change),
        4_000_031: ("InvalidStatusError", .change),
        4_000_032: ("InvalidAccountTenureError", .change),
        4_000_033: ("InvalidAppAccountTokenError", .change),
        4_000_034: ("InvalidConsumptionStatusError", .change),
        4_000_035: ("InvalidCustomerConsentedError", .change),
        4_000_036: ("InvalidDeliveryStatusError", .change),
        4_000_037: ("InvalidLifetimeDollarsPurchasedError", .change),
        4_000_038: ("InvalidLifetimeDollarsRefundedError", .change),
        4_000_039: ("InvalidPlatformError", .change),
        4_000_040: ("InvalidPlayTimeError", .change),
        4_000_041: ("InvalidSampleContentProvidedError", .change),
        4_000_042: ("InvalidUserStatusError", .change),
        4_000_043: ("InvalidTransactionNotConsumableError", .change),
        4_000_044: ("InvalidRefundPreferenceError", .change),
        4_000_047: ("InvalidTransactionTypeNotSupportedError", .change),
        4_000_048: ("AppTransactionIdNotSupportedError", .change),
        4_000_183: ("InvalidAppAccountTokenUUIDError", .change),
        4_000_185: ("FamilyTransactionNotSupportedError", .change),
        4_000_187: ("TransactionIdIsNotOriginalTransactionIdError", .change),
        4_000_209: ("ConsumptionPercentageAutoRenewableSubscriptionError", .change),
        4_000_225: ("InvalidGroupIdError", .change),
        4_000_226: ("InvalidLimitError", .change),
        4_000_227: ("InvalidAssignedTransactionNotSupportedError", .change),
    ]

    /// 403 to 500: the request is right, the state is not.
    private static let states: [Int: Row] = [
        4_030_004: ("SubscriptionExtensionIneligibleError", .giveUp),
        4_030_005: ("SubscriptionMaxExtensionError", .giveUp),
        4_030_007: ("FamilySharedSubscriptionExtensionIneligibleError", .giveUp),
        4_030_028: ("AssignedSubscriptionExtensionIneligibleError", .giveUp),
        4_040_001: ("AccountNotFoundError", .giveUp),
        4_040_002: ("AccountNotFoundRetryableError", .retry),
        4_040_003: ("AppNotFoundError", .change),
        4_040_004: ("AppNotFoundRetryableError", .retry),
        4_040_005: ("OriginalTransactionIdNotFoundError", .giveUp),
        4_040_006: ("OriginalTransactionIdNotFoundRetryableError", .retry),
        4_040_007: ("ServerNotificationURLNotFoundError", .change),
        // Also when the notification has not been sent yet.
        4_040_008: ("TestNotificationNotFoundError", .retry),
        4_040_009: ("StatusRequestNotFoundError", .giveUp),
        4_040_010: ("TransactionIdNotFoundError", .giveUp),
        4_040_019: ("AppTransactionDoesNotExistError", .giveUp),
        4_040_022: ("GroupNotFoundError", .giveUp),
        4_290_000: ("RateLimitExceededError", .retry),
        // Apple does not promise that asking again helps; but it is no word about the request.
        5_000_000: ("GeneralInternalError", .retry),
        5_000_001: ("GeneralInternalRetryableError", .retry),
    ]
}
