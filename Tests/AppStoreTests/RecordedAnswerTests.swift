import AppStore
import AppleFormats
import Crypto
import Encoding
import HTTP
import PurchaseModel
import Testing
import TestSupport
import Verification

/// Apple's own answers, as they were recorded.
@Suite("Recorded answers", .enabled(if: Corpus.isPresent, Comment(rawValue: Corpus.absenceNote)))
struct RecordedAnswerTests {
    private static let answers = Corpus.isPresent ? (try? Corpus.files(in: "verify_receipt_responses")) ?? [] : []

    /// Every transaction in it comes out, once, and is for the app that it names.
    @Test(arguments: answers)
    func whatVerifyReceiptSaidBecomesFacts(file: String) async throws {
        let body = try Corpus.bytes("verify_receipt_responses/" + file)
        let answer = try #require(try JSONDocument(body).root.object)
        let receipt = try #require(answer["receipt"]?.object)
        let bundleID = try #require((receipt["bundle_id"] ?? receipt["bid"])?.string)
        let isProduction = answer["environment"]?.string != "Sandbox"
        let desk = AppleDesk()
        let call = try desk.receiptCall { call throws(HTTPCallFailure) in
            guard isProduction != call.url.contains("sandbox") else {
                return HTTPResponse(.ok, body: Array(#"{"status":21007}"#.utf8))
            }
            return HTTPResponse(.ok, body: body)
        }
        let app = AppCredentials(bundleID: BundleID(checked: bundleID))
        let result = await call.verify([1], of: app)
        let found = try #require(result.receipt, "\(result)")
        var ids: Set<String> = []
        let unified = answer["unified_receipt"]?.object
        for place in [
            answer["latest_receipt_info"], receipt["in_app"], answer["latest_expired_receipt_info"],
            unified?["latest_receipt_info"],
        ] {
            for entry in place?.array.map({ $0.compactMap(\.object) }) ?? place?.object.map({ [$0] }) ?? [] {
                ids.insert(try Self.id(entry))
            }
        }
        if receipt["bid"] != nil { ids.insert(try Self.id(receipt)) }
        #expect(Set(found.transactions.map(\.id.description)) == ids)
        #expect(found.transactions.count == ids.count)
        #expect(found.store == (isProduction ? .production : .sandbox))
        let hasRenewals = answer["pending_renewal_info"]?.array?.count ?? 0 > 0 || answer["auto_renew_status"] != nil
        #expect(found.renewals.isEmpty != hasRenewals)
        // Whoever recorded some of them has cut the receipt out.
        let latest = (answer["latest_receipt"] ?? unified?["latest_receipt"])?.string
        let bytes = latest.flatMap { try? Base64.decode(Array($0.utf8), .standard, padding: .optional) }
        #expect(found.latestReceipt == bytes)
    }

    /// Some have their ids as numbers.
    private static func id(_ entry: JSONObject) throws -> String {
        let value = try #require(entry["transaction_id"])
        return value.string ?? String(decoding: value.raw, as: UTF8.self)
    }

    @Test func statusesThatAppleAnsweredAreReadAndProved() async throws {
        let body = try Corpus.bytes("server_api_responses/get_all_subscription_statuses.json")
        let answer = try StatusesAnswer(JSONDocument.ofApple(body))
        #expect(answer.groups.map(\.identifier) == ["20900603"] && answer.others.isEmpty)
        let lines = answer.groups.flatMap(\.lastTransactions)
        #expect(!lines.isEmpty && lines.allSatisfy { $0.status != nil && $0.others.isEmpty })
        let desk = AppleDesk()
        // What stands around the signed texts was changed by whoever recorded it; what is signed says whose it is.
        #expect(answer.bundleID == "com.test.app")
        var app = AppCredentials(bundleID: BundleID(checked: "club.omnichess.ios"))
        let pem = try ServerDesk.signingKey.get().pem()
        app.key = try ServerAPIKey(issuerID: "issuer", keyID: "ABCDEFGHIJ", pem: pem)
        let client = AppStoreServerClient(
            app: app,
            line: desk.line(HTTPHandler { _ in HTTPResponse(.ok, body: body) }),
            verifier: Verifier(anchors: try .apple())
        )
        let text = try #require(lines.first?.originalTransactionID)
        let id = try #require(TransactionID(text))
        // It is of 2021; which store a fact is from is signed since 2022, and one that does not say so is not taken.
        let failure = await failure { () async throws(AppStoreFailure) in
            try await client.statuses(ofAny: id, in: .sandbox)
        }
        guard case .untrusted(.environmentUnknown, _)? = failure else {
            throw AppleDesk.DeskFault.unexpected("\(String(describing: failure))")
        }
        let verifier = Verifier(anchors: try .apple())
        for line in lines {
            for text in [line.signedTransactionInfo, line.signedRenewalInfo] {
                let found = verifier.examine(
                    Array(text.utf8),
                    expecting: Verification.Expectation(bundleID: app.bundleID)
                )
                #expect(found.proof?.verdict == .genuine)
            }
        }
    }
}
