import AppleFormats
import Encoding

/// Signed texts of our own making, whose signatures mean nothing.
enum JWSSamples {
    static let header = #"{"alg":"ES256","x5c":["AQID","BAUG","BwgJ"]}"#

    static let transaction = #"""
        {"transactionId":"2000000950112345","originalTransactionId":"2000000950100001",
        "webOrderLineItemId":"2000000101112131","bundleId":"com.example.app","productId":"com.example.pro.month",
        "subscriptionGroupIdentifier":"21456789","purchaseDate":1763600400000,"originalPurchaseDate":1761008400000,
        "expiresDate":1763600700000,"quantity":1,"type":"Auto-Renewable Subscription",
        "appAccountToken":"7b1f0a52-6c0e-4d7c-9d7a-3a0a2f5c9e11","inAppOwnershipType":"PURCHASED",
        "signedDate":1763600412345,"revocationReason":1,"revocationDate":1763600500000,"revocationType":"REFUND_FULL",
        "revocationPercentage":100000,"isUpgraded":true,"offerType":2,"offerIdentifier":"winter",
        "offerDiscountType":"PAY_UP_FRONT","offerPeriod":"P1M","environment":"Sandbox","storefront":"USA",
        "storefrontId":"143441","transactionReason":"RENEWAL","price":4990,"currency":"USD",
        "appTransactionId":"704289572311513293","previousOriginalTransactionId":"2000000950100000",
        "billingPlanType":"MONTHLY","deviceVerification":"AAEC","deviceVerificationNonce":"n",
        "commitmentInfo":{"billingPeriodNumber":3},"advancedCommerceInfo":{"items":[]},"brandNew":[1,"ü"]}
        """#

    static let renewalInfo = #"""
        {"originalTransactionId":"2000000950100001","autoRenewProductId":"com.example.pro.year",
        "productId":"com.example.pro.month","autoRenewStatus":1,"renewalPrice":49990,"currency":"USD",
        "signedDate":1763600412345,"environment":"Production","recentSubscriptionStartDate":1761008400000,
        "renewalDate":1763600700000,"expirationIntent":2,"isInBillingRetryPeriod":true,
        "gracePeriodExpiresDate":1763600800000,"priceIncreaseStatus":0,"offerType":4,"offerIdentifier":"back",
        "offerDiscountType":"FREE_TRIAL","offerPeriod":"P3D","eligibleWinBackOfferIds":["a","b"],
        "appAccountToken":"7b1f0a52-6c0e-4d7c-9d7a-3a0a2f5c9e11","appTransactionId":"704289572311513293",
        "renewalBillingPlanType":"BILLED_UPFRONT","deviceVerification":"AAEC","deviceVerificationNonce":"n",
        "commitmentInfo":{}}
        """#

    static let appTransaction = #"""
        {"receiptType":"Xcode","appAppleId":690661663,"bundleId":"com.example.app","applicationVersion":"434",
        "versionExternalIdentifier":863855306,"receiptCreationDate":1697680122257.447,
        "originalPurchaseDate":-62135769600000,"originalApplicationVersion":"1","deviceVerification":"AAEC",
        "deviceVerificationNonce":"48c8b92d","preorderDate":1697680122257,"appTransactionId":"704289572311513293",
        "originalPlatform":"iOS","requestDate":1697680122257.75}
        """#

    static let notification = #"""
        {"notificationType":"DID_RENEW","subtype":"BILLING_RECOVERY","version":"2.0","signedDate":1763600412345,
        "notificationUUID":"5f1f0a64-3d0b-4d4e-9a4e-2d1bb6b2f3a1",
        "data":{"appAppleId":1234567890,"bundleId":"com.example.app","bundleVersion":"412","environment":"Production",
        "signedTransactionInfo":"a.b.c","signedRenewalInfo":"d.e.f","status":1,"consumptionRequestReason":"LEGAL",
        "later":{}}}
        """#

    static let realtimeRequest = #"""
        {"originalTransactionId":"2000000950100001","appAppleId":1,"productId":"p","userLocale":"en-US",
        "requestIdentifier":"5f1f0a64","environment":"Sandbox","signedDate":1763600412345}
        """#

    static func segment(_ bytes: [UInt8]) -> [UInt8] {
        Base64.encode(bytes, .url, isPadded: false)
    }

    static func compact(
        header: String = header,
        payload: String,
        signature: [UInt8] = [UInt8](repeating: 0x5A, count: 64)
    ) -> [UInt8] {
        segment(Array(header.utf8)) + [0x2E] + segment(Array(payload.utf8)) + [0x2E] + segment(signature)
    }

    static func document(_ text: String) throws -> JSONDocument {
        try JSONDocument.ofApple(Array(text.utf8))
    }
}
