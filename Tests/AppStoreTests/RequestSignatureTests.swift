import AppStore
import Crypto
import Encoding
import PurchaseModel
import Testing

/// Requests that an app hands to StoreKit as a JWS.
@Suite struct RequestSignatureTests {
    private static let now = AppleDesk.start
    private static let issuer = "57246542-96fe-1a63-e053-0824d011072a"
    private static let uuid = "7b1f0a52-6c0e-4d7c-9d7a-3a0a2f5c9e11"

    private static func signer() throws -> (MerchantSigner, PrivateKey) {
        let key = try ServerDesk.signingKey.get()
        var app = AppleDesk().credentials
        app.key = try ServerAPIKey(issuerID: issuer, keyID: "ABCDEFGHIJ", pem: key.pem())
        return (try MerchantSigner(app), key)
    }

    private static func object(_ token: String, _ index: Int) throws -> JSONObject {
        let parts = token.split(separator: ".").map { Array($0.utf8) }
        return try #require(try JSONDocument(Base64.decode(parts[index], .url, padding: .forbidden)).root.object)
    }

    @Test func eachKindHasItsClaims() throws {
        let (signer, _) = try Self.signer()
        let nonce = try #require(MerchantNonce(Self.uuid))
        let id = try #require(TransactionID("700000000000001"))
        let product = ProductID(checked: "p")
        let request = Array(#"{"operation":"CREATE_ONE_TIME_CHARGE","price":990,"s":"é"}"#.utf8)
        let offer = try signer.promotionalOffer("o", of: product, transaction: id, nonce: nonce, at: Self.now)
        let bare = try signer.promotionalOffer("o", of: product, transaction: nil, nonce: nonce, at: Self.now)
        let first = try signer.introductoryOffer(
            of: product,
            isAllowed: false,
            transaction: id,
            nonce: nonce,
            at: Self.now
        )
        let commerce = try signer.advancedCommerce(request: request, nonce: nonce, at: Self.now)
        for (token, kind) in [
            (offer, SignedRequestKind.promotionalOffer), (bare, .promotionalOffer), (first, .introductoryOffer),
            (commerce, .advancedCommerce),
        ] {
            let (header, claims) = (try Self.object(token, 0), try Self.object(token, 1))
            #expect(header["alg"]?.string == "ES256" && header["kid"]?.string == "ABCDEFGHIJ" && header.count == 3)
            #expect(claims["iss"]?.string == Self.issuer && claims["bid"]?.string == AppleDesk.bundleID.text)
            #expect(claims["aud"]?.string == kind.rawValue && claims["nonce"]?.string == Self.uuid)
            #expect(claims["iat"]?.int64 == Self.now.milliseconds / 1_000 && claims["exp"] == nil)
            #expect(signer.explain(request: token, at: Self.now) == [])
        }
        let claims = try Self.object(offer, 1)
        #expect(claims["productId"]?.string == "p" && claims["offerIdentifier"]?.string == "o")
        #expect(claims["transactionId"]?.string == "700000000000001" && claims.count == 8)
        #expect(try Self.object(bare, 1)["transactionId"] == nil)
        #expect(try Self.object(first, 1)["allowIntroductoryOffer"]?.bool == false)
        let text = try #require(try Self.object(commerce, 1)["request"]?.string)
        #expect(try Base64.decode(Array(text.utf8), .standard, padding: .required) == request)
        for text in ["", "[]", "{"] {
            #expect(throws: SigningFailure.invalidField("request")) {
                try signer.advancedCommerce(request: Array(text.utf8), nonce: nonce, at: Self.now)
            }
        }
    }

    private static let good =
        #""iss":"\#(issuer)","bid":"com.example.demo","iat":1767225600,"nonce":"\#(uuid)","aud":"promotional-offer","#
        + #""productId":"p","offerIdentifier":"o""#

    private static func token(
        _ claims: String,
        header: String = #"{"alg":"ES256","kid":"ABCDEFGHIJ","typ":"JWT"}"#,
        sign: (([UInt8]) throws -> [UInt8])? = nil
    ) throws -> String {
        let (_, key) = try signer()
        let parts = [header, "{\(claims)}"].map { text in
            String(decoding: Base64.encode(Array(text.utf8), .url, isPadded: false), as: UTF8.self)
        }
        let message = Array(parts.joined(separator: ".").utf8)
        let signature = try sign?(message) ?? key.signES256(message)
        return String(decoding: message, as: UTF8.self) + "."
            + String(decoding: Base64.encode(signature, .url, isPadded: false), as: UTF8.self)
    }

    static let rows: [(claims: String, findings: [SignatureFinding])] = [
        (good, []),
        (good.replacing("promotional-offer", with: "appstoreconnect-v1"), [.audience]),
        (good.replacing("com.example.demo", with: "com.example.other"), [.otherBundleID]),
        (good.replacing(issuer, with: "x"), [.otherIssuer]),
        (good.replacing(uuid, with: "x"), [.nonceNotUUID]),
        (good.replacing(uuid, with: uuid.uppercased()), []),
        (good.replacing("1767225600", with: "1767225600000"), [.timestampInMilliseconds]),
        (good.replacing("1767225600", with: "1767130000"), [.tooOld]),
        (good.replacing("1767225600", with: "1767229999"), [.fromTheFuture]),
        (good.replacing("\"iat\":1767225600", with: "\"iat\":\"1767225600\""), [.claim]),
        (good.replacing("offerIdentifier", with: "offerId"), [.claim]),
        (good + #","transactionId":5"#, [.claim]),
        (good.replacing("promotional-offer", with: "introductory-offer-eligibility"), [.claim]),
        (good.replacing("promotional-offer", with: "advanced-commerce-api"), [.claim]),
        (good.replacing("promotional-offer", with: "advanced-commerce-api") + #","request":"{}""#, [.request]),
        (good.replacing("promotional-offer", with: "advanced-commerce-api") + #","request":"e30=""#, []),
    ]

    @Test(arguments: rows.indices)
    func eachWrongClaimIsNamed(index: Int) throws {
        let (signer, _) = try Self.signer()
        #expect(
            signer.explain(request: try Self.token(Self.rows[index].claims), at: Self.now) == Self.rows[index].findings
        )
    }

    @Test func eachWrongHeaderAndSignatureIsNamed() throws {
        let (signer, key) = try Self.signer()
        let other = try PrivateKey(generate: .p256)
        func findings(
            _ header: String = #"{"alg":"ES256","kid":"ABCDEFGHIJ","typ":"JWT"}"#,
            sign: (([UInt8]) throws -> [UInt8])? = nil
        ) throws -> [SignatureFinding] {
            signer.explain(request: try Self.token(Self.good, header: header, sign: sign), at: Self.now)
        }
        #expect(try findings(#"{"alg":"ES384","kid":"ABCDEFGHIJ"}"#) == [.algorithm])
        #expect(try findings(#"{"alg":"ES256","kid":"ABCDEFGHIJ","typ":"JWS"}"#) == [.algorithm])
        #expect(try findings(#"{"alg":"ES256"}"#) == [.otherKeyID])
        #expect(try findings { try other.signES256($0) } == [.signatureMismatch])
        #expect(try findings { try key.sign($0, digest: .sha256) } == [.derSignature])
        #expect(try findings { try other.sign($0, digest: .sha256) } == [.derSignature, .signatureMismatch])
        #expect(try findings { _ in [1, 2, 3] } == [.notECDSA])
        for text in ["", "a.b", "a.b.c", "e30.e30.", "e30.W10.AAAA", "e30.e30.AAAA.AAAA"] {
            #expect(signer.explain(request: text, at: Self.now) == [.notJWS])
        }
    }
}
