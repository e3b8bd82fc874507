import AppStore
import Crypto
import Encoding
import PurchaseModel
import Testing

/// The older signature of a promotional offer: what is signed, and what is wrong with somebody else's.
@Suite struct OfferSignatureTests {
    private static let now = AppleDesk.start
    private static let uuid = "7b1f0a52-6c0e-4d7c-9d7a-3a0a2f5c9e11"
    private static let account = "1d0c9f7e-2a3b-4c5d-8e6f-a0b1c2d3e4f5"
    private static let product = "com.example.demo.pro.monthly"
    private static let offer = "THREE-MONTHS-HALF"

    private static func signer() throws -> (MerchantSigner, PrivateKey) {
        let key = try ServerDesk.signingKey.get()
        var app = AppleDesk().credentials
        app.key = try ServerAPIKey(
            issuerID: "57246542-96fe-1a63-e053-0824d011072a",
            keyID: "ABCDEFGHIJ",
            pem: key.pem()
        )
        return (try MerchantSigner(app), key)
    }

    /// Seven fields as somebody may have put them together.
    private static func fields(
        product: String = product,
        offer: String = offer,
        account: String? = account,
        nonce: String = uuid,
        timestamp: Int64 = now.milliseconds,
        separator: String = "\u{2063}"
    ) -> [UInt8] {
        let middle = account.map { [$0] } ?? []
        let all = [AppleDesk.bundleID.text, "ABCDEFGHIJ", product, offer] + middle + [nonce, String(timestamp)]
        return Array(all.joined(separator: separator).utf8)
    }

    private static func given(_ signature: [UInt8]) -> GivenOfferSignature {
        let text = String(decoding: Base64.encode(signature, .standard, isPadded: true), as: UTF8.self)
        return GivenOfferSignature(
            keyID: "ABCDEFGHIJ",
            product: product,
            offer: offer,
            account: account,
            nonce: uuid,
            timestamp: now.milliseconds,
            signature: text
        )
    }

    @Test(arguments: [account, "", "Customer-17"])
    func whatIsSignedIsSevenFieldsBetweenInvisibleSeparators(account: String) throws {
        let (signer, key) = try Self.signer()
        let nonce = try #require(MerchantNonce(Self.uuid.uppercased()))
        let made = try signer.promotionalOffer(
            Self.offer,
            of: ProductID(checked: Self.product),
            account: account,
            nonce: nonce,
            at: Self.now
        )
        #expect(
            made.keyID == "ABCDEFGHIJ" && made.nonce.description == Self.uuid && made.timestamp == Self.now.milliseconds
        )
        let der = try Base64.decode(Array(made.signature.utf8), .standard, padding: .required)
        let message = Self.fields(account: account.lowercased())
        #expect(message.count(where: { $0 == 0xE2 }) == 6)
        #expect(key.publicKey.isValidES256(der: der, message: message))
        var given = Self.given(der)
        given.account = account
        #expect(signer.explain(given, at: Self.now) == [])
    }

    @Test func whatCannotBeSignedIsNamed() throws {
        let (signer, _) = try Self.signer()
        for (offer, account, field) in [
            ("", "", "offer_id"), ("a\u{2063}b", "", "offer_id"), ("a", "x\u{2063}y", "account"),
        ] {
            #expect(throws: SigningFailure.invalidField(field)) {
                try signer.promotionalOffer(
                    offer,
                    of: ProductID(checked: "p"),
                    account: account,
                    nonce: MerchantNonce(random: Array(repeating: 7, count: 16)),
                    at: Self.now
                )
            }
        }
        #expect(throws: SigningFailure.notConfigured) { try MerchantSigner(AppleDesk().credentials) }
    }

    @Test func noncesAreUUIDsOfVersion4() {
        let nonce = MerchantNonce(random: Array(repeating: 0xFF, count: 16)).description
        #expect(nonce == "ffffffff-ffff-4fff-bfff-ffffffffffff")
        #expect(
            MerchantNonce(random: Array(repeating: 0, count: 16)).description == "00000000-0000-4000-8000-000000000000"
        )
        #expect(MerchantNonce("no") == nil)
        #expect(MerchantNonce.generated() != MerchantNonce.generated())
    }

    /// The mistakes that are made when the fields are put together.
    static let mistakes: [(SignatureFinding, [UInt8])] = [
        (.signedUpperCaseNonce, fields(nonce: uuid.uppercased())),
        (.signedUpperCaseAccount, fields(account: account.uppercased())),
        (.signedWithoutAccount, fields(account: "")), (.signedWithoutAccount, fields(account: nil)),
        (.signedSeconds, fields(timestamp: now.milliseconds / 1_000)),
        (.productAndOfferSwapped, fields(product: offer, offer: product)), (.separatorMissing, fields(separator: "")),
        (.otherSeparator, fields(separator: "\u{2064}")), (.otherSeparator, fields(separator: "\\u2063")),
        (.signatureMismatch, fields(product: "another")),
    ]

    @Test(arguments: mistakes.indices)
    func eachMistakeIsNamed(index: Int) throws {
        let (finding, message) = Self.mistakes[index]
        let (signer, key) = try Self.signer()
        let given = Self.given(try key.sign(message, digest: .sha256))
        #expect(signer.explain(given, at: Self.now) == [finding])
    }

    /// Those that are made on the way to StoreKit.
    @Test func eachWrongFormIsNamed() throws {
        let (signer, key) = try Self.signer()
        let right = Self.given(try key.sign(Self.fields(), digest: .sha256))
        func findings(_ change: (inout GivenOfferSignature) -> Void, at now: Timestamp = Self.now) -> [SignatureFinding]
        {
            var given = right
            change(&given)
            return signer.explain(given, at: now)
        }
        func base64(_ bytes: [UInt8], _ alphabet: Base64.Alphabet = .standard) -> String {
            String(decoding: Base64.encode(bytes, alphabet, isPadded: true), as: UTF8.self)
        }
        #expect(findings { _ in } == [])
        #expect(findings { $0.keyID = "ZZZZZZZZZZ" } == [.otherKeyID])
        #expect(findings { $0.nonce = "x" } == [.nonceNotUUID, .signatureMismatch])
        #expect(findings { $0.nonce = Self.uuid.uppercased() } == [.nonceUpperCase])
        #expect(findings { $0.offer = "" } == [.emptyField, .signatureMismatch])
        #expect(findings { $0.timestamp /= 1_000 } == [.timestampInSeconds, .signatureMismatch])
        #expect(findings { $0.signature = "***" } == [.notBase64])
        #expect(findings { $0.signature = base64(Array($0.signature.utf8)) } == [.encodedTwice])
        #expect(findings { $0.signature = base64([1, 2, 3]) } == [.notECDSA])
        let raw = try key.signES256(Self.fields())
        #expect(findings { $0.signature = base64(raw) } == [.rawSignature])
        #expect(findings({ _ in }, at: Self.now.advanced(by: .seconds(86_401))) == [.tooOld])
        #expect(findings({ _ in }, at: Self.now.advanced(by: .seconds(86_400))) == [])
        #expect(findings({ _ in }, at: Self.now.advanced(by: .seconds(-301))) == [.fromTheFuture])
        // ECDSA signatures differ each time; one of them has a letter that only one alphabet has.
        for _ in 0..<100 {
            let der = try key.sign(Self.fields(), digest: .sha256)
            let text = base64(der, .url)
            guard text != base64(der) else { continue }
            #expect(findings { $0.signature = text } == [.urlAlphabet])
            return
        }
        Issue.record("a hundred signatures without + and /")
    }

    @Test func everyFindingHasASentence() {
        for finding in SignatureFinding.allCases { #expect(finding.sentence.hasSuffix(".")) }
    }
}
