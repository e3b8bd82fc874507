import Encoding
import HTTP
import PurchaseModel
import Testing

/// What is signed in the merchant's name, and what is said of what somebody else signed.
@Suite struct SignatureTests {
    private static let offer = #"{"product_id": "pro.monthly", "offer_id": "come-back", "account": "Ann"}"#

    @Test func anOfferIsSignedInBothFormsAndEachIsGood() async throws {
        try await TestHouse().open { house in
            let answer = await house.change("/v1/signatures/promotional-offer", Self.offer)
            #expect(answer.status == .ok)
            let signed = try answer.json()
            #expect(signed["key_id"]?.string == TestHouse.keyID)
            #expect(signed["timestamp"]?.int64 == TestHouse.now.milliseconds)
            let jws = try #require(signed["jws"]?.string)
            #expect(try await Self.findings(#"{"jws": "\#(jws)"}"#, house) == [])
            #expect(try await Self.findings(Self.parts(signed), house) == [])
            // The mistake that is made most: another account than was signed.
            #expect(try await Self.findings(Self.parts(signed, account: "bob"), house) == ["signature_mismatch"])
            #expect(try await Self.findings(Self.parts(signed, product: "pro.yearly"), house) == ["signature_mismatch"])
            // Each has a nonce of its own.
            let again = try await house.change("/v1/signatures/promotional-offer", Self.offer).json()
            #expect(again["nonce"]?.string != signed["nonce"]?.string)
            house.clock.advance(by: .seconds(86_401))
            #expect(try await Self.findings(Self.parts(signed), house) == ["too_old"])
        }
    }

    @Test(arguments: [
        ("introductory-offer", #"{"product_id": "pro.monthly", "transaction_id": "42", "is_allowed": false}"#),
        ("advanced-commerce", #"{"request": "{\"operation\": \"CREATE_SUBSCRIPTION\"}"}"#),
    ])
    func theOtherRequestsAreGood(kind: String, body: String) async throws {
        try await TestHouse().open { house in
            let answer = await house.change("/v1/signatures/\(kind)", body)
            #expect(answer.status == .ok)
            let jws = try #require(try answer.json()["jws"]?.string)
            #expect(try await Self.findings(#"{"jws": "\#(jws)"}"#, house) == [])
            // One letter more is another signature.
            #expect(try await Self.findings(#"{"jws": "\#(jws)A"}"#, house) != [])
        }
    }

    @Test(arguments: [
        ("promotional-offer", "{}", "product_id"),
        ("promotional-offer", #"{"product_id": "pro.monthly"}"#, "offer_id"),
        ("promotional-offer", #"{"product_id": "pro.monthly", "offer_id": ""}"#, "offer_id"),
        ("promotional-offer", #"{"product_id": "pro.monthly", "offer_id": "a\#u{2063}b"}"#, "offer_id"),
        (
            "promotional-offer", #"{"product_id": "pro.monthly", "offer_id": "a", "transaction_id": "x"}"#,
            "transaction_id"
        ),
        ("introductory-offer", #"{"product_id": "pro.monthly", "transaction_id": "1"}"#, "is_allowed"),
        ("advanced-commerce", #"{"request": "no object"}"#, "request"),
        ("explain", "{}", "signature"),
    ])
    func whatCannotBeSignedSaysWhichField(kind: String, body: String, field: String) async throws {
        try await TestHouse().open { house in
            let answer = await house.change("/v1/signatures/\(kind)", body)
            #expect(answer.status == .badRequest)
            let problem = try answer.json()
            #expect(problem["field"]?.string == field)
        }
    }

    @Test func anAppWithoutAKeySignsNothing() async throws {
        try await TestHouse().open { house in
            let answer = await house.change(
                "/v1/signatures/promotional-offer",
                Self.offer,
                key: TestHouse.otherKey
            )
            #expect(answer.status == .conflict)
            let problem = try answer.json()
            #expect(problem["code"]?.string == "no_key")
        }
    }

    private static func parts(
        _ signed: JSONObject,
        account: String = "Ann",
        product: String = "pro.monthly"
    ) -> String {
        let body = JSONWriter.object { json in
            json.member("key_id", signed["key_id"]?.string)
            json.member("product_id", product)
            json.member("offer_id", "come-back")
            json.member("account", account)
            json.member("nonce", signed["nonce"]?.string)
            json.member("timestamp", signed["timestamp"]?.int64)
            json.member("signature", signed["signature"]?.string)
        }
        return String(decoding: body, as: UTF8.self)
    }

    private static func findings(_ body: String, _ house: TestHouse) async throws -> [String] {
        let answer = try await house.change("/v1/signatures/explain", body).json()
        let findings = try #require(answer["findings"]?.array).compactMap { $0.object?["code"]?.string }
        #expect(answer["is_good"]?.bool == findings.isEmpty)
        return findings
    }
}
