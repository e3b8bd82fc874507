import API
import Crypto
import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Synchronization
import TestSupport
import Testing

/// What every answer has: a signature for who wishes one, and the name of its request.
@Suite struct AnswerTests {
    private static let nonce = "0123456789abcdef"

    private static func ask(
        _ house: TestHouse,
        _ path: String,
        query: String? = nil,
        by method: HTTPMethod = .get,
        fields more: HTTPFields = [:]
    ) async -> HTTPResponse {
        var fields: HTTPFields = ["Authorization": "Bearer \(TestHouse.key)"]
        for field in more { fields.append(field.name, field.value) }
        return await house.router.respond(to: HTTPRequest(method: method, path: path, query: query, fields: fields))
    }

    private static func isSigned(
        _ answer: HTTPResponse,
        by key: Ed25519PublicKey,
        target: String,
        asked method: String = "GET",
        nonce: String = nonce,
        with authorization: String = "Bearer \(TestHouse.key)",
        saying sent: [UInt8] = [],
        body: [UInt8]? = nil
    ) throws -> Bool {
        let moment = try #require(answer.fields["Assay-Signed-At"])
        let text = try #require(answer.fields["Assay-Signature"])
        let sums = [Array(authorization.utf8), sent].map { Hexadecimal.encode(Digest.sha256($0)) }
        let head = """
            assay-answer-v2
            \(nonce)
            \(moment)
            \(method) \(target)
            \(sums[0])
            \(sums[1])
            \(answer.status)

            """
        let signature = try Base64.decode(Array(text.utf8), .standard, padding: .required)
        return key.isValid(signature: signature, message: Array(head.utf8) + (body ?? answer.body))
    }

    @Test func aSignatureIsOverAllThatMatters() async throws {
        let key = try Ed25519PrivateKey()
        let house = try TestHouse(signer: AnswerSigner(key))
        let listed = try await Self.ask(house, "/v1/signing-keys").json()["keys"]?.array?.first { _ in true }?.object
        let shown = try Base64.decode(
            Array(try #require(listed?["public_key"]?.string).utf8),
            .standard,
            padding: .required
        )
        let told = try Ed25519PublicKey(bytes: shown)
        let path = "/v1/orders"
        let answer = await Self.ask(house, path, query: "limit=2", fields: ["Assay-Nonce": Self.nonce])
        #expect(answer.fields["Assay-Key-ID"] == listed?["key_id"]?.string)
        #expect(answer.fields["Assay-Signed-At"] == "1763600000")
        #expect(try Self.isSigned(answer, by: told, target: "/v1/orders?limit=2"))
        #expect(try !Self.isSigned(answer, by: told, target: "/v1/orders?limit=3"))
        #expect(try !Self.isSigned(answer, by: told, target: "/v1/orders?limit=2", nonce: "fedcba9876543210"))
        #expect(try !Self.isSigned(answer, by: told, target: "/v1/orders?limit=2", body: answer.body + [0x20]))
        #expect(try !Self.isSigned(answer, by: try Ed25519PrivateKey().publicKey, target: "/v1/orders?limit=2"))
        #expect(try !Self.isSigned(answer, by: told, target: "/v1/orders?limit=2", saying: [0x20]))
        // A refusal is signed, too: nobody in between may say that somebody has nothing.
        let refusal = await Self.ask(house, "/v1/orders/none", fields: ["Assay-Nonce": Self.nonce])
        #expect(refusal.status == .notFound)
        #expect(try Self.isSigned(refusal, by: told, target: "/v1/orders/none"))
    }

    /// Whoever stands in between may send another app's key, or another proof, and hand on the true answer to that.
    @Test func anAnswerIsToOneKeyAndOneBody() async throws {
        let key = try Ed25519PrivateKey()
        let house = try TestHouse(signer: AnswerSigner(key))
        let (path, body) = ("/v1/purchases", Array(#"{"proof":"1"}"#.utf8))
        for authorization in ["Bearer \(TestHouse.key)", "Bearer pk_other", nil] {
            var fields: HTTPFields = ["Assay-Nonce": Self.nonce, "Content-Type": "application/json"]
            if let authorization { fields.append("Authorization", authorization) }
            let request = HTTPRequest(method: .post, path: path, query: nil, fields: fields, body: body)
            let answer = await house.router.respond(to: request)
            func isSigned(_ authorization: String?, _ sent: [UInt8]) throws -> Bool {
                try Self.isSigned(
                    answer,
                    by: key.publicKey,
                    target: path,
                    asked: "POST",
                    with: authorization ?? "",
                    saying: sent
                )
            }
            #expect(try isSigned(authorization, body), "\(authorization ?? "none"): \(answer.status)")
            #expect(try !isSigned("Bearer pk_another", body))
            #expect(try !isSigned(authorization, Array(#"{"proof":"2"}"#.utf8)))
        }
    }

    /// What is sent of it is what a client can check.
    @Test func whatHeadIsAnsweredIsSignedWithoutItsBody() async throws {
        let key = try Ed25519PrivateKey()
        let house = try TestHouse(signer: AnswerSigner(key))
        let answer = await Self.ask(house, "/v1/catalogue", by: .head, fields: ["Assay-Nonce": Self.nonce])
        #expect(answer.status == .ok && !answer.body.isEmpty)
        #expect(try Self.isSigned(answer, by: key.publicKey, target: "/v1/catalogue", asked: "HEAD", body: []))
    }

    /// Nobody in between may say that there is no such thing here.
    @Test(arguments: [
        ("/nowhere", HTTPMethod.get, HTTPStatus.notFound), ("/v1/orders", .put, .methodNotAllowed),
        ("/v1/customers/a%/x", .get, .badRequest),
    ])
    func whatNoRouteTakesIsSignedAndNamed(path: String, method: HTTPMethod, status: HTTPStatus) async throws {
        let key = try Ed25519PrivateKey()
        let house = try TestHouse(signer: AnswerSigner(key))
        let fields: HTTPFields = ["Assay-Nonce": Self.nonce, "X-Request-Id": "mine"]
        let answer = await Self.ask(house, path, by: method, fields: fields)
        #expect(answer.status == status && answer.fields["X-Request-Id"] == "mine")
        #expect(try Self.isSigned(answer, by: key.publicKey, target: path, asked: method.rawValue))
        // More routes leave that as it is.
        let more = Route(.get, "/more") { _, _ in .problem(.notFound, code: "more") }
        let request = HTTPRequest(method: method, path: path, query: nil, fields: fields)
        let other = await house.router.adding([more]).respond(to: request)
        #expect(other.fields["Assay-Signature"] != nil)
    }

    @Test(arguments: [nil, "short", String(repeating: "x", count: 129), "0123456789 abcdef"])
    func withoutANonceNothingIsSigned(nonce: String?) async throws {
        let house = try TestHouse(signer: AnswerSigner(try Ed25519PrivateKey()))
        let fields: HTTPFields = nonce.map { ["Assay-Nonce": $0] } ?? [:]
        #expect(await Self.ask(house, "/v1/orders", fields: fields).fields["Assay-Signature"] == nil)
    }

    @Test func withoutAKeyNothingIsSigned() async throws {
        let house = try TestHouse()
        let answer = await Self.ask(house, "/v1/orders", fields: ["Assay-Nonce": Self.nonce])
        #expect(answer.fields["Assay-Signature"] == nil)
        #expect(try await Self.ask(house, "/v1/signing-keys").json()["keys"]?.array?.count == 0)
    }

    // MARK: Names

    @Test func aRequestHasTheNameThatItCameWithOrANewOne() async throws {
        let house = try TestHouse()
        for given in ["abc-123_x.y", "req_1", String(repeating: "x", count: 128)] {
            let answer = await Self.ask(house, "/livez", fields: ["X-Request-Id": given])
            #expect(answer.fields["X-Request-Id"] == given)
        }
        var made: Set<String> = []
        for given in ["", "a b", "a\nb", "é", String(repeating: "x", count: 129)] {
            let answer = await Self.ask(house, "/livez", fields: ["X-Request-Id": given])
            let name = try #require(answer.fields["X-Request-Id"])
            #expect(name.hasPrefix("req_") && name.utf8.count == 28)
            made.insert(name)
        }
        #expect(made.count == 5)
    }

    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"

    /// W3C Trace Context § 3.2; what is broken is as if it were not there.
    @Test(
        arguments: [
            ("00-\(trace)-00f067aa0ba902b7-01", true), ("cc-\(trace)-00f067aa0ba902b7-01-more", true),
            ("00-\(trace)-00f067aa0ba902b7-01-more", false), ("ff-\(trace)-00f067aa0ba902b7-01", false),
            ("00-\(trace.uppercased())-00f067aa0ba902b7-01", false), ("00-\(trace)-0000000000000000-01", false),
            ("00-00000000000000000000000000000000-00f067aa0ba902b7-01", false), ("00-\(trace)-00f067aa0ba902b7", false),
            ("", false), (String(repeating: "00-", count: 400), false),
        ]
    )
    func aFailureIsToldWithItsTrace(given: String, isRead: Bool) async throws {
        let told = Mutex<[FailedRequest]>([])
        let house = try TestHouse(
            keys: KeyRing([:], isComplete: false),
            failed: { failed in told.withLock { $0.append(failed) } }
        )
        let fields: HTTPFields = ["traceparent": given, "X-Request-Id": "mine"]
        #expect(await Self.ask(house, "/v1/orders/secret", fields: fields).status == .serviceUnavailable)
        _ = await Self.ask(house, "/livez")
        let failed = try #require(told.withLock { $0.first })
        #expect(told.withLock { $0.count } == 1)
        #expect(failed.name.request == "mine" && failed.name.trace == (isRead ? Self.trace : nil))
        #expect(failed.template == "/v1/orders/{id}" && failed.status == .serviceUnavailable)
    }
}
