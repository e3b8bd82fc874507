import Crypto
import Foundation
import PurchaseModel
import TestSupport
import Testing
import Verification

/// Recorded proofs that Apple signed: each is believed, and says what another program read in it.
@Suite(.enabled(if: Corpus.isPresent, Comment(rawValue: Corpus.absenceNote)))
struct GenuineCorpusTests {
    private static let receipts = CorpusCase.all(in: "receipts")
    private static let oldReceipts = CorpusCase.all(in: "ios6")
    private static let tokens = CorpusCase.all(in: "jws")

    @Test(arguments: receipts)
    func aReceiptIsGenuineWhenItWasMade(_ sample: CorpusCase) throws {
        let examination = try TestVerifier.apple().examine(sample.bytes())
        #expect(examination.report.format == .appReceipt)
        #expect(examination.reason == (sample.isGenuine ? .verified : .xcode))
        #expect(examination.isProved == sample.isGenuine)
        #expect(examination.isConsistent)
        let claims = examination.report.claims
        let fields = try sample.facts("fields")
        #expect(claims.bundleID == Fact.text(fields["bundle_id"]))
        #expect(claims.environment == CorpusCase.environment(fields["receipt_type"]))
        #expect(claims.signedAt?.milliseconds == (try Fact.milliseconds(fields["receipt_creation_date"])))
        #expect(claims.appleID ?? 0 == Fact.number(fields["app_item_id"]))
        #expect(claims.download?.originalVersion == Fact.text(fields["original_application_version"]))
        #expect(claims.transactions.count == sample.expect.inAppCount)
        for (transaction, fact) in try zip(claims.transactions, sample.factsList("in_app")) {
            #expect(transaction.id.description == Fact.text(fact["transaction_id"]))
            #expect(transaction.originalID?.description == Fact.text(fact["original_transaction_id"]))
            #expect(transaction.product.text == Fact.text(fact["product_id"]))
            #expect(Int64(transaction.quantity) == Fact.number(fact["quantity"]))
            #expect(transaction.purchasedAt.milliseconds == (try Fact.milliseconds(fact["purchase_date"])))
            #expect(transaction.expiresAt?.milliseconds == (try Fact.milliseconds(fact["expires_date"])))
            #expect(transaction.revocation?.at.milliseconds == (try Fact.milliseconds(fact["cancellation_date"])))
            #expect(transaction.signedAt == claims.signedAt)
        }
    }

    /// Every signer of receipts has expired since: at the wall clock none would be left.
    @Test(arguments: receipts.filter(\.isGenuine))
    func aReceiptIsNotJudgedAtTheWallClock(_ sample: CorpusCase) throws {
        let late = Expected(moment: Timestamp(seconds: 1_795_132_800))
        let examination = try TestVerifier.apple().examine(sample.bytes(), expecting: late)
        #expect(examination.reason == .certificateNotValid)
        #expect(!examination.isProved)
    }

    @Test(arguments: oldReceipts)
    func anOldReceiptIsGenuineWithTheAuthorityThatItDoesNotCarry(_ sample: CorpusCase) throws {
        let examination = try CorpusCase.verifierWithCertificates().examine(sample.bytes())
        #expect(examination.report.format == .transactionReceipt)
        #expect(examination.reason == .verified)
        #expect(examination.isProved && examination.isConsistent)
        let info = try sample.facts("info")
        let claims = examination.report.claims
        let transaction = try #require(claims.transactions.first)
        let isSandbox = sample.environment == "Sandbox"
        #expect(claims.bundleID == Fact.text(info["bid"]))
        #expect(claims.environment == (isSandbox ? .sandbox : .production))
        #expect(claims.appleID == Fact.number(info["app-item-id"]))
        #expect(claims.transactions.count == 1)
        #expect(transaction.id.description == Fact.text(info["transaction-id"]))
        #expect(transaction.originalID?.description == Fact.text(info["original-transaction-id"]))
        #expect(transaction.product.text == Fact.text(info["product-id"]))
        #expect(Int64(transaction.quantity) == Fact.number(info["quantity"]))
        let purchased = try Fact.milliseconds(info["purchase-date-ms"] ?? info["purchase-date"])
        #expect(transaction.purchasedAt.milliseconds == purchased)
        #expect(claims.signedAt == transaction.purchasedAt)
        #expect(transaction.expiresAt?.milliseconds == (try Fact.milliseconds(info["expires-date"])))
    }

    @Test(arguments: oldReceipts)
    func withoutThatAuthorityNothingIsSaidAndItsNameIsTold(_ sample: CorpusCase) throws {
        let examination = try TestVerifier.apple().examine(sample.bytes())
        #expect(examination.reason == .intermediateMissing)
        #expect(examination.verdict == .undecidable)
        #expect(!examination.isProved)
        let issuer = try #require(try sample.facts("cert")["issuer"] as? String)
        let name = try #require(issuer.split(separator: ",").first { $0.hasPrefix("CN=") })
        #expect(examination.report.detail?.contains(name) == true)
    }

    @Test(arguments: tokens)
    func aTokenIsGenuineWhenItWasSigned(_ sample: CorpusCase) throws {
        let examination = try TestVerifier.apple().examine(sample.bytes())
        #expect(examination.report.format.rawValue == sample.kind)
        #expect(examination.reason == .verified)
        #expect(examination.isProved && examination.isConsistent)
        #expect(examination.report.certificates.count == 3)
        let payload = try sample.facts("payload")
        let claims = examination.report.claims
        #expect(claims.signedAt?.milliseconds == Fact.number(payload["signedDate"]))
        let data = payload["data"] as? [String: Any] ?? payload
        #expect(claims.bundleID == Fact.text(data["bundleId"]))
        #expect(claims.environment == CorpusCase.environment(data["environment"]))
        #expect(claims.appleID == Fact.number(data["appAppleId"]))
        try check(claims, against: payload, of: sample)
        #expect(claims.transactions.map(\.id.description) == (sample.expect.transactionIDs ?? []))
    }

    private func check(_ claims: Claims, against payload: [String: Any], of sample: CorpusCase) throws {
        switch sample.kind {
        case "jws_transaction": try check(try #require(claims.transactions.first), payload)
        case "jws_renewal_info": try check(try #require(claims.renewal), payload)
        default:
            let notice = try #require(claims.notice)
            #expect(notice.type == Fact.text(payload["notificationType"]))
            #expect(notice.subtype == Fact.text(payload["subtype"]))
            #expect(notice.uuid == Fact.text(payload["notificationUUID"]))
            for nested in try sample.factsList("nested") {
                #expect(nested["signature_valid"] as? Bool == true)
                let inner = try #require(nested["payload"] as? [String: Any])
                if nested["field"] as? String == "signedTransactionInfo" {
                    try check(try #require(notice.transaction), inner)
                } else {
                    try check(try #require(notice.renewal), inner)
                }
            }
        }
    }

    private func check(_ transaction: Transaction, _ payload: [String: Any]) throws {
        #expect(transaction.id.description == Fact.text(payload["transactionId"]))
        #expect(transaction.originalID?.description == Fact.text(payload["originalTransactionId"]))
        #expect(transaction.product.text == Fact.text(payload["productId"]))
        #expect(Int64(transaction.quantity) == Fact.number(payload["quantity"]))
        #expect(transaction.purchasedAt.milliseconds == Fact.number(payload["purchaseDate"]))
        #expect(transaction.expiresAt?.milliseconds == Fact.number(payload["expiresDate"]))
        #expect(transaction.revocation?.at.milliseconds == Fact.number(payload["revocationDate"]))
        #expect(transaction.signedAt.milliseconds == Fact.number(payload["signedDate"]))
        #expect(transaction.webOrderLineItem == Fact.text(payload["webOrderLineItemId"]))
        #expect(transaction.price?.milliunits == Fact.number(payload["price"]))
        #expect(transaction.storefront == Fact.text(payload["storefront"]))
    }

    private func check(_ renewal: Renewal, _ payload: [String: Any]) throws {
        #expect(renewal.originalID.description == Fact.text(payload["originalTransactionId"]))
        #expect(renewal.product.text == Fact.text(payload["productId"]))
        #expect(renewal.nextProduct?.text == Fact.text(payload["autoRenewProductId"]))
        #expect(renewal.willAutoRenew == Fact.number(payload["autoRenewStatus"]).map { $0 == 1 })
        #expect(renewal.signedAt.milliseconds == Fact.number(payload["signedDate"]))
        #expect(renewal.renewsAt?.milliseconds == Fact.number(payload["renewalDate"]))
    }

    @Test(arguments: (receipts + tokens).filter(\.isGenuine))
    func aTurnedBitOfARecordedProofProvesNothingElse(_ sample: CorpusCase) throws {
        let proof = try Corpus.unwrapped(sample)
        // The longest has eighty times the bytes of the shortest.
        let count = max(4, min(40, 240_000 / proof.count))
        try Altered.check(proof, by: TestVerifier.apple(), signedMax: count, signaturesMax: count, unsignedMax: count)
    }

    @Test(arguments: oldReceipts)
    func aTurnedBitOfARecordedOldReceiptProvesNothingElse(_ sample: CorpusCase) throws {
        let proof = try Corpus.unwrapped(sample)
        try Altered.check(
            proof,
            by: CorpusCase.verifierWithCertificates(),
            signedMax: 60,
            signaturesMax: 60,
            unsignedMax: 60
        )
    }
}
