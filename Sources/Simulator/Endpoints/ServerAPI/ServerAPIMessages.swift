extension ServerAPIError {
    /// As Apple's pages print them.
    static let messages: [ServerAPIError: String] = [
        .generalBadRequest: "Bad request.",
        .invalidAppIdentifier: "Invalid request app identifier.",
        .invalidRequestRevision: "Invalid request revision.",
        .invalidTransactionID: "Invalid transaction id.",
        .invalidOriginalTransactionID: "Invalid original transaction id.",
        .invalidExtendByDays: "Invalid extend by days value.",
        .invalidExtendReasonCode: "Invalid extend reason code.",
        .invalidRequestIdentifier: "Invalid request identifier.",
        .startDateTooFarInPast: "Invalid request. The start date is earlier than the allowed start date.",
        .startDateAfterEndDate: "Invalid request. The end date precedes the start date or the dates are the same.",
        .invalidPaginationToken: "Invalid request. The pagination token is invalid.",
        .invalidStartDate:
            "Invalid request. The start date is not a timestamp value represented in milliseconds.",
        .invalidEndDate: "Invalid request. The end date is not a timestamp value represented in milliseconds.",
        .paginationTokenExpired: "Invalid request. The pagination token is expired.",
        .invalidNotificationType: "Invalid request. The notification type or subtype is invalid.",
        .multipleFiltersSupplied:
            "Invalid request. Supply either a transaction id or a notification type, but not both.",
        .invalidTestNotificationToken: "Invalid request. The test notification token is invalid.",
        .invalidSort: "Invalid request. The sort parameter is invalid.",
        .invalidProductType: "Invalid request. The product type parameter is invalid.",
        .invalidProductID: "Invalid request. The product id parameter is invalid.",
        .invalidSubscriptionGroup: "Invalid request. The subscription group identifier parameter is invalid.",
        .invalidExcludeRevoked: "Invalid request. The exclude revoked parameter is invalid.",
        .invalidOwnershipType: "Invalid request. The in-app ownership type parameter is invalid.",
        .emptyStorefrontList:
            "Invalid request. If provided, the list of storefront country codes must not be empty.",
        .invalidStorefront: "Invalid request. A storefront country code was invalid.",
        .invalidRevoked: "Invalid request. The revoked parameter is invalid.",
        .invalidStatus: "Invalid request. The status parameter is invalid.",
        .invalidAccountTenure: "Invalid request. The account tenure field is invalid.",
        .invalidAppAccountToken:
            "Invalid request. The app account token field must contain a valid UUID or an empty string.",
        .invalidConsumptionStatus: "Invalid request. The consumption status field is invalid.",
        .invalidCustomerConsented:
            "Invalid request. The customer consented field is required and must indicate the customer consented.",
        .invalidDeliveryStatus: "Invalid request. The delivery status field is invalid.",
        .invalidLifetimeDollarsPurchased: "Invalid request. The lifetime dollars purchased field is invalid.",
        .invalidLifetimeDollarsRefunded: "Invalid request. The lifetime dollars refunded field is invalid.",
        .invalidPlatform: "Invalid request. The platform field is invalid.",
        .invalidPlayTime: "Invalid request. The playtime field is invalid.",
        .invalidSampleContentProvided: "Invalid request. The sample content provided field is invalid.",
        .invalidUserStatus: "Invalid request. The user status field is invalid.",
        .invalidRefundPreference: "Invalid request. The refund preference field is invalid.",
        .transactionTypeNotSupported:
            "Invalid request. The transaction id doesn't represent a supported in-app purchase type.",
        .appTransactionNotSupported: "Invalid request. App transactions aren't supported by this endpoint.",
        .invalidAppAccountTokenUUID: "Invalid request. The app account token field must be a valid UUID.",
        .familyTransactionNotSupported:
            "Invalid request. Family Sharing transactions aren't supported by this endpoint.",
        .notOriginalTransactionID:
            "Invalid request. The transaction ID provided is not an original transaction ID.",
        .consumptionPercentageOutOfRange: "Invalid request. The consumption percentage field is out of range.",
        .undeliveredConsumptionNonZero:
            "Invalid request. The consumption percentage field must be 0 unless the purchase was delivered.",
        .consumptionPercentageOfSubscription: "Invalid request. The consumption percentage field is not supported "
            + "for auto-renewable subscription transactions.",
        .invalidGroupID: "Invalid request. The group ID is invalid.",
        .invalidLimit: "Invalid request. The limit parameter is invalid.",
        .assignedTransactionNotSupported:
            "Invalid request. Assigned transactions aren't supported by this endpoint.",
        .extensionIneligible: "Forbidden - subscription state ineligible for extension.",
        .extensionsUsedUp: "Forbidden - subscription has reached maximum extension count.",
        .familySharedExtension:
            "Subscriptions that users obtain through Family Sharing can't get a renewal date extension directly.",
        .assignedExtension: "Assigned subscriptions can't get a renewal date extension.",
        .accountNotFound: "Account not found.",
        .accountNotFoundRetryable: "Account not found. Please try again.",
        .appNotFound: "App not found.",
        .appNotFoundRetryable: "App not found. Please try again.",
        .originalTransactionNotFound: "Original transaction id not found.",
        .originalTransactionNotFoundRetryable: "Original transaction id not found. Please try again.",
        .notificationURLNotFound: "No App Store Server Notification URL found for provided app. "
            + "Check that a URL is configured in App Store Connect for this environment.",
        .testNotificationNotFound: "Either the test notification token is expired or the notification and status "
            + "are not yet available.",
        .statusRequestNotFound: "The server didn't find a subscription-renewal-date extension request for this "
            + "requestIdentifier and productId combination.",
        .transactionNotFound: "Transaction id not found.",
        .appTransactionDoesNotExist: "No AppTransaction exists for the customer.",
        .groupNotFound: "Group not found.",
        .rateLimitExceeded: "Rate limit exceeded.",
        .generalInternal: "An unknown error occurred.",
        .generalInternalRetryable: "An unknown error occurred. Please try again.",
        .notSimulated: "This store does not simulate the endpoint.",
    ]
}
