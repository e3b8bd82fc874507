import AppleFormats
import Encoding
import Foundation
import Testing

@Suite("Signed payloads")
struct PayloadTests {
    @Test("give every field of a transaction")
    func transaction() throws {
        let payload = try TransactionPayload(JWSSamples.document(JWSSamples.transaction))
        #expect(payload.transactionID == "2000000950112345")
        #expect(payload.originalTransactionID == "2000000950100001")
        #expect(payload.webOrderLineItemID == "2000000101112131")
        #expect(payload.bundleID == "com.example.app")
        #expect(payload.productID == "com.example.pro.month")
        #expect(payload.subscriptionGroupIdentifier == "21456789")
        #expect(payload.purchaseDate == 1_763_600_400_000)
        #expect(payload.originalPurchaseDate == 1_761_008_400_000)
        #expect(payload.expiresDate == 1_763_600_700_000)
        #expect(payload.quantity == 1)
        #expect(payload.type == .autoRenewable)
        #expect(payload.appAccountToken == "7b1f0a52-6c0e-4d7c-9d7a-3a0a2f5c9e11")
        #expect(payload.inAppOwnershipType == .purchased)
        #expect(payload.signedDate == 1_763_600_412_345)
        #expect(payload.revocationReason == 1)
        #expect(payload.revocationDate == 1_763_600_500_000)
        #expect(payload.revocationType == .refundFull)
        #expect(payload.revocationPercentage == 100_000)
        #expect(payload.isUpgraded == true)
        #expect(payload.offerType == .promotional)
        #expect(payload.offerIdentifier == "winter")
        #expect(payload.offerDiscountType == .payUpFront)
        #expect(payload.offerPeriod == "P1M")
        #expect(payload.environment == .sandbox)
        #expect(payload.storefront == "USA")
        #expect(payload.storefrontID == "143441")
        #expect(payload.transactionReason == .renewal)
        #expect(payload.price == 4_990)
        #expect(payload.currency == "USD")
        #expect(payload.appTransactionID == "704289572311513293")
        #expect(payload.previousOriginalTransactionID == "2000000950100000")
        #expect(payload.billingPlanType == "MONTHLY")
        #expect(payload.deviceVerification == "AAEC")
        #expect(payload.deviceVerificationNonce == "n")
        #expect(payload.others.map(\.name) == ["commitmentInfo", "advancedCommerceInfo", "brandNew"])
        #expect(payload.others.last?.json == Array(#"[1,"ü"]"#.utf8))
    }

    @Test("give every field of a renewal info")
    func renewalInfo() throws {
        let payload = try RenewalInfoPayload(JWSSamples.document(JWSSamples.renewalInfo))
        #expect(payload.originalTransactionID == "2000000950100001")
        #expect(payload.autoRenewProductID == "com.example.pro.year")
        #expect(payload.productID == "com.example.pro.month")
        #expect(payload.autoRenewStatus == 1)
        #expect(payload.renewalPrice == 49_990)
        #expect(payload.currency == "USD")
        #expect(payload.signedDate == 1_763_600_412_345)
        #expect(payload.environment == .production)
        #expect(payload.recentSubscriptionStartDate == 1_761_008_400_000)
        #expect(payload.renewalDate == 1_763_600_700_000)
        #expect(payload.expirationIntent == .billingError)
        #expect(payload.isInBillingRetryPeriod == true)
        #expect(payload.gracePeriodExpiresDate == 1_763_600_800_000)
        #expect(payload.priceIncreaseStatus == 0)
        #expect(payload.offerType == .winBack)
        #expect(payload.offerIdentifier == "back")
        #expect(payload.offerDiscountType == .freeTrial)
        #expect(payload.offerPeriod == "P3D")
        #expect(payload.eligibleWinBackOfferIDs == ["a", "b"])
        #expect(payload.appAccountToken == "7b1f0a52-6c0e-4d7c-9d7a-3a0a2f5c9e11")
        #expect(payload.appTransactionID == "704289572311513293")
        #expect(payload.renewalBillingPlanType == "BILLED_UPFRONT")
        #expect(payload.others.map(\.name) == ["commitmentInfo"])
    }

    @Test("give every field of an app transaction, fractions of milliseconds cut off")
    func appTransaction() throws {
        let payload = try AppTransactionPayload(JWSSamples.document(JWSSamples.appTransaction))
        #expect(payload.receiptType == .xcode)
        #expect(payload.appAppleID == 690_661_663)
        #expect(payload.bundleID == "com.example.app")
        #expect(payload.applicationVersion == "434")
        #expect(payload.versionExternalIdentifier == 863_855_306)
        #expect(payload.receiptCreationDate == 1_697_680_122_257)
        #expect(payload.originalPurchaseDate == -62_135_769_600_000)
        #expect(payload.originalApplicationVersion == "1")
        #expect(payload.deviceVerificationNonce == "48c8b92d")
        #expect(payload.preorderDate == 1_697_680_122_257)
        #expect(payload.originalPlatform == "iOS")
        #expect(payload.requestDate == 1_697_680_122_257)
        #expect(payload.others.isEmpty)
    }

    @Test("give every field of a notification")
    func notification() throws {
        let payload = try NotificationPayload(JWSSamples.document(JWSSamples.notification))
        #expect(payload.notificationType == "DID_RENEW")
        #expect(payload.subtype == "BILLING_RECOVERY")
        #expect(payload.notificationUUID == "5f1f0a64-3d0b-4d4e-9a4e-2d1bb6b2f3a1")
        #expect(payload.version == "2.0")
        #expect(payload.signedDate == 1_763_600_412_345)
        #expect(payload.data?.appAppleID == 1_234_567_890)
        #expect(payload.data?.bundleID == "com.example.app")
        #expect(payload.data?.bundleVersion == "412")
        #expect(payload.data?.environment == .production)
        #expect(payload.data?.signedTransactionInfo == "a.b.c")
        #expect(payload.data?.signedRenewalInfo == "d.e.f")
        #expect(payload.data?.status == .active)
        #expect(payload.data?.consumptionRequestReason == "LEGAL")
        #expect(payload.data?.others.map(\.name) == ["later"])
        #expect(payload.summary == nil)
    }

    static let subjects = [
        #"{"summary":{"requestIdentifier":"r","environment":"Sandbox","appAppleId":1,"bundleId":"b","productId":"p","storefrontCountryCodes":["USA"],"succeededCount":5,"failedCount":0}}"#,
        #"{"externalPurchaseToken":{"externalPurchaseId":"SANDBOX_x","tokenCreationDate":1,"tokenExpirationDate":2,"tokenType":"SERVICES","appAppleId":1,"bundleId":"b"}}"#,
        #"{"appData":{"appAppleId":1,"bundleId":"b","environment":"Sandbox","signedAppTransactionInfo":"a.b.c"}}"#,
    ]

    @Test("give the other subjects of notifications, and write them back", arguments: subjects)
    func otherSubjects(text: String) throws {
        let payload = try NotificationPayload(JWSSamples.document(text))
        #expect([payload.summary != nil, payload.externalPurchaseToken != nil, payload.appData != nil].contains(true))
        #expect(payload.encode() == Array(text.utf8))
    }

    @Test("are written so that they are read back")
    func roundTrip() throws {
        func decoded(_ bytes: [UInt8]) throws -> NSDictionary {
            try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary)
        }
        let transaction = try TransactionPayload(JWSSamples.document(JWSSamples.transaction))
        #expect(try decoded(transaction.encode()) == decoded(Array(JWSSamples.transaction.utf8)))
        let renewal = try RenewalInfoPayload(JWSSamples.document(JWSSamples.renewalInfo))
        #expect(try decoded(renewal.encode()) == decoded(Array(JWSSamples.renewalInfo.utf8)))
        let notification = try NotificationPayload(JWSSamples.document(JWSSamples.notification))
        #expect(try decoded(notification.encode()) == decoded(Array(JWSSamples.notification.utf8)))
        let app = try AppTransactionPayload(JWSSamples.document(JWSSamples.appTransaction))
        #expect(try AppTransactionPayload(JSONDocument.ofApple(app.encode())) == app)
    }

    @Test("may lack every field")
    func empty() throws {
        let nothing = try JWSSamples.document("{}")
        #expect(try TransactionPayload(nothing) == TransactionPayload())
        #expect(try RenewalInfoPayload(nothing) == RenewalInfoPayload())
        #expect(try AppTransactionPayload(nothing) == AppTransactionPayload())
        #expect(try NotificationPayload(nothing) == NotificationPayload())
        #expect(TransactionPayload().encode() == Array("{}".utf8))
    }

    @Test(
        "are told apart by their keys",
        arguments: [
            (JWSSamples.transaction, .transaction), (JWSSamples.renewalInfo, .renewalInfo),
            (JWSSamples.appTransaction, .appTransaction), (JWSSamples.notification, .notification),
            (JWSSamples.realtimeRequest, .realtimeRequest), ("{}", .unknown), ("[]", .unknown),
            (#"{"transactionId":"1"}"#, .unknown), (#"{"notificationType":"TEST"}"#, .unknown),
            (#"{"originalTransactionId":"1"}"#, .unknown),
        ] as [(String, PayloadKind)]
    )
    func kind(text: String, kind: PayloadKind) throws {
        #expect(try PayloadKind(of: JWSSamples.document(text)) == kind)
    }

    @Test("keep words and numbers that Apple has yet to invent")
    func openValues() throws {
        let payload = try TransactionPayload(
            JWSSamples.document(#"{"type":"Loan","environment":"Moon","offerType":99,"inAppOwnershipType":"LENT"}"#)
        )
        #expect(payload.type?.rawValue == "Loan")
        #expect(payload.environment?.rawValue == "Moon")
        #expect(payload.offerType?.rawValue == 99)
        #expect(payload.inAppOwnershipType?.rawValue == "LENT")
    }

    static let values: [(text: String, fault: FormatFault?)] = [
        (#"{"price":9223372036854775807}"#, nil), (#"{"price":1e3}"#, nil), (#"{"price":4990.0}"#, nil),
        (#"{"price":null}"#, nil), (#"{"transactionId":null}"#, nil), (#"{"purchaseDate":1.743495457425E12}"#, nil),
        (#"{"price":9223372036854775808}"#, .invalidValue(field: "price")),
        (#"{"price":0.5}"#, .invalidValue(field: "price")), (#"{"price":1e99}"#, .invalidValue(field: "price")),
        (#"{"price":"4990"}"#, .wrongType(field: "price")),
        (#"{"transactionId":1}"#, .wrongType(field: "transactionId")),
        (#"{"isUpgraded":"true"}"#, .wrongType(field: "isUpgraded")),
        (#"{"isUpgraded":1}"#, .wrongType(field: "isUpgraded")),
        (#"{"revocationDate":"2024"}"#, .wrongType(field: "revocationDate")),
        (#"{"revocationDate":1e40}"#, .invalidValue(field: "revocationDate")),
        (#"{"revocationDate":true}"#, .wrongType(field: "revocationDate")),
        (#"{"type":{}}"#, .wrongType(field: "type")),
        ("[]", .wrongType(field: "object")),
    ]

    @Test("refuse a value of another type by its name", arguments: values)
    func oneValue(text: String, fault: FormatFault?) {
        do throws(FormatFault) {
            _ = try TransactionPayload(JSONDocument.ofApple(Array(text.utf8)))
            #expect(fault == nil)
        } catch {
            #expect(error == fault)
        }
    }

    @Test("refuse parts of another type")
    func parts() {
        for text in [#"{"data":[]}"#, #"{"summary":1}"#, #"{"summary":{"storefrontCountryCodes":[1]}}"#] {
            #expect(throws: FormatFault.self) { try NotificationPayload(JWSSamples.document(text)) }
        }
        #expect(throws: FormatFault.wrongType(field: "eligibleWinBackOfferIds")) {
            try RenewalInfoPayload(JWSSamples.document(#"{"eligibleWinBackOfferIds":"a"}"#))
        }
    }

    @Test("refuse more new members than Apple will ever add")
    func tooMany() {
        let members = (0..<1_000).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
        #expect(throws: FormatFault.self) { try TransactionPayload(JWSSamples.document("{\(members)}")) }
    }
}
