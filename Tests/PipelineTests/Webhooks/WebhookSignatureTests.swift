import Crypto
import Encoding
import HTTP
import Pipeline
import PurchaseModel
import Storage
import TestSupport
import Testing

@Suite struct WebhookSignatureTests {
    private static let moment = Timestamp(milliseconds: 1_614_265_330_999)

    /// The vectors of the libraries of Standard Webhooks (symmetric: JavaScript's and Python's tests; asymmetric: Go's).
    @Test func knownAnswers() throws {
        let secret = try #require(WebhookSecret(text: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let key = try #require(WebhookSigningKey("whsk_VEVTVFNJR05JTkdLRVlET05PVFVTRVRISVNGT1JBTlk="))
        let id = try #require(WebhookMessageID("msg_p5jXN8AQM9LWM0D4loKWxJek"))
        let body = Array(#"{"test": 2432232314}"#.utf8)
        let fields = try WebhookSignature.headers(
            id: id,
            timestamp: Self.moment,
            body: body,
            secrets: [secret],
            keys: [key]
        )
        #expect(fields["webhook-id"] == "msg_p5jXN8AQM9LWM0D4loKWxJek")
        #expect(fields["webhook-timestamp"] == "1614265330")
        let symmetric = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        let asymmetric =
            "v1a,tQ9V2XOqn7jL/DQenEFpqIugdBVtiMmER5mhSkXBNwM0mkATuDe6KYYUuxqtaiHeYGb7KaaBRdM5WqyeFiL8Ag=="
        #expect(fields["webhook-signature"] == symmetric + " " + asymmetric)
        #expect(key.verifyingKey.text == "whpk_ZlN4eg7dSSqi0moX9hQUk3orrOouK3QVQSlJa248c/g=")
    }

    @Test(arguments: [
        ("whsec_", 23, false), ("whsec_", 24, true), ("whsec_", 64, true), ("whsec_", 65, false), ("whsec_", 0, false),
        ("", 32, false), ("whsk_", 32, false), ("WHSEC_", 32, false), ("whsec_ ", 32, false),
    ])
    func aSecretHasItsLength(prefix: String, count: Int, isOne: Bool) {
        let bytes = [UInt8](repeating: 0xA5, count: count)
        let text = prefix + String(decoding: Base64.encode(bytes, .standard, isPadded: true), as: UTF8.self)
        #expect((WebhookSecret(text: text) != nil) == isOne)
    }

    @Test func keysAndSecretsSurviveTheirTexts() throws {
        let secret = WebhookSecret.generate()
        #expect(WebhookSecret(text: secret.text) == secret)
        #expect(WebhookSecret.generate() != secret)
        #expect(!"\(secret)".contains(secret.text.dropFirst(6)))
        let key = try WebhookSigningKey()
        #expect(WebhookSigningKey(key.text) == key)
        #expect(WebhookSigningKey(kept: try #require(key.secret)) == key)
        #expect(WebhookVerifyingKey(key.verifyingKey.text) == key.verifyingKey)
        #expect(!"\(key)".contains(key.text.dropFirst(5)))
        #expect(WebhookVerifyingKey(key.text) == nil && WebhookSigningKey(key.verifyingKey.text) == nil)
    }

    @Test func aSeedMayHaveItsPublicKeyBehindIt() throws {
        let key = try Ed25519PrivateKey(seed: [UInt8](1...32))
        func text(_ bytes: [UInt8]) -> String {
            "whsk_" + String(decoding: Base64.encode(bytes, .standard, isPadded: true), as: UTF8.self)
        }
        #expect(WebhookSigningKey(text(key.seed + key.publicKey.bytes)) == WebhookSigningKey(text(key.seed)))
        #expect(WebhookSigningKey(text(key.seed + key.seed)) == nil)
        #expect(WebhookSigningKey(text(Array(key.seed.dropLast()))) == nil)
    }

    @Test(arguments: [
        ("msg_1", true), ("a", true), (String(repeating: "a", count: 255), true), ("", false), ("a.b", false),
        (".", false), ("a b", false), ("a\n", false), ("é", false), (String(repeating: "a", count: 256), false),
    ])
    func aNameCannotMoveTheBorders(text: String, isOne: Bool) {
        #expect((WebhookMessageID(text) != nil) == isOne)
    }

    @Test(arguments: [(999, "0"), (-1, "-1"), (-1_000, "-1"), (1_000, "1")] as [(Int64, String)])
    func secondsAreWholeOnes(milliseconds: Int64, expected: String) throws {
        let fields = try WebhookSignature.headers(
            id: #require(WebhookMessageID("a")),
            timestamp: Timestamp(milliseconds: milliseconds),
            body: [],
            secrets: [WebhookSecret.generate()]
        )
        #expect(fields["webhook-timestamp"] == expected)
    }
}

@Suite struct WebhookVerifierTests {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)

    /// A message that is right, and what a test makes of it.
    struct Message {
        var id = WebhookMessageID("evt_1")
        var secrets = [WebhookSecret.generate()]
        var keys: [WebhookSigningKey] = []
        var body = Array(#"{"type":"webhook.test"}"#.utf8)

        func fields(at moment: Timestamp = now) throws -> HTTPFields {
            try WebhookSignature.headers(
                id: #require(id),
                timestamp: moment,
                body: body,
                secrets: secrets,
                keys: keys
            )
        }

        func fault(_ fields: HTTPFields, body other: [UInt8]? = nil) -> WebhookFault? {
            do throws(WebhookFault) {
                try WebhookVerifier(secrets: secrets, keys: keys.map(\.verifyingKey))
                    .check(fields, body: other ?? body, at: now)
                return nil
            } catch {
                return error
            }
        }
    }

    @Test func aRightMessageIsBelieved() throws {
        let message = Message()
        let id = try WebhookVerifier(secrets: message.secrets).check(message.fields(), body: message.body, at: Self.now)
        #expect(id == message.id)
    }

    @Test(
        arguments: [
            (-300, nil), (300, nil), (-301, .tooOld), (301, .tooNew), (-1_000_000, .tooOld), (0, nil),
        ] as [(Int, WebhookFault?)]
    )
    func theAttemptIsNew(seconds: Int, fault: WebhookFault?) throws {
        let message = Message()
        #expect(message.fault(try message.fields(at: Self.now.advanced(by: .seconds(seconds)))) == fault)
    }

    @Test(
        arguments: [
            ("webhook-id", nil, .header), ("webhook-timestamp", nil, .header), ("webhook-signature", nil, .header),
            ("webhook-id", "evt_2", .signature), ("webhook-id", "", .id), ("webhook-id", "evt.1", .id),
            ("webhook-timestamp", "1799999999", .signature), ("webhook-timestamp", "1.8e9", .timestamp),
            ("webhook-timestamp", "+1800000000", .timestamp), ("webhook-timestamp", "1800000000.5", .timestamp),
            ("webhook-timestamp", "", .timestamp), ("webhook-timestamp", "9999999999999", .timestamp),
            ("webhook-timestamp", "01800000000", .signature),
            ("webhook-signature", "", .signature), ("webhook-signature", "v1", .signature),
            ("webhook-signature", "v1,", .signature), ("webhook-signature", "v1,AAAA", .signature),
            ("webhook-signature", "v1,####", .signature), ("webhook-signature", ",", .signature),
        ] as [(String, String?, WebhookFault)]
    )
    func aWrongFieldIsRefused(name: String, value: String?, fault: WebhookFault) throws {
        let message = Message()
        var fields = try message.fields()
        fields[name] = value
        #expect(message.fault(fields) == fault)
    }

    @Test(arguments: ["webhook-id", "webhook-timestamp", "webhook-signature"])
    func aFieldThatStandsThereTwiceIsRefused(name: String) throws {
        let message = Message()
        var fields = try message.fields()
        fields.append(name, fields[name] ?? "")
        #expect(message.fault(fields) == .header)
    }

    @Test func anotherSchemesNameGivesNoRight() throws {
        let message = Message()
        let fields = try message.fields()
        let signature = try #require(fields["webhook-signature"]?.utf8.split(separator: UInt8(ascii: ",")).last)
        for scheme in ["v2", "v1a", "V1", "", "v1 "] {
            var other = fields
            other["webhook-signature"] = scheme + "," + String(decoding: Array(signature), as: UTF8.self)
            #expect(message.fault(other) == .signature, "\(scheme)")
        }
    }

    @Test func aRotatedSecretIsTakenBesideTheNew() throws {
        let (old, new) = (WebhookSecret.generate(), WebhookSecret.generate())
        var message = Message()
        message.secrets = [new, old]
        let fields = try message.fields()
        #expect(fields["webhook-signature"]?.utf8.count { $0 == UInt8(ascii: " ") } == 1)
        for known in [old, new] {
            let verifier = WebhookVerifier(secrets: [known])
            #expect(throws: Never.self) { try verifier.check(fields, body: message.body, at: Self.now) }
        }
        let stranger = WebhookVerifier(secrets: [WebhookSecret.generate()])
        #expect(throws: WebhookFault.signature) { try stranger.check(fields, body: message.body, at: Self.now) }
        // Who receives may change first, too.
        message.secrets = [old]
        let both = WebhookVerifier(secrets: [new, old])
        #expect(throws: Never.self) { try both.check(message.fields(), body: message.body, at: Self.now) }
    }

    @Test func aFloodOfSignaturesCostsLittle() throws {
        let message = Message()
        var fields = try message.fields()
        let flood = String(repeating: "v1,AAAA ", count: 10_000)
        fields["webhook-signature"] = flood + (fields["webhook-signature"] ?? "")
        #expect(message.fault(fields) == .signature)
    }

    @Test(arguments: UInt64(0)..<100)
    func aTurnedBitIsNoticed(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var message = Message()
        message.body = random.bytes(Int.random(in: 1...400, using: &random))
        message.keys = [try WebhookSigningKey()]
        if seed % 2 == 0 { message.secrets = [] }
        let fields = try message.fields()
        #expect(message.fault(fields) == nil)
        var body = message.body
        body[Int.random(in: 0..<body.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        #expect(message.fault(fields, body: body) == .signature)
        #expect(message.fault(fields, body: body + [0x20]) == .signature)
        #expect(message.fault(try message.fields(), body: Array(message.body.dropLast())) == .signature)
    }
}
