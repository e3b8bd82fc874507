import Crypto
import Encoding
import PurchaseModel
import Simulator
import TestSupport
import Testing

@Suite struct JWSSignerTests {
    private let signer = TestAuthority.signer(.production)

    @Test func anotherProgramVerifiesTheSignature() throws {
        let token = try signer.transaction(SampleFacts.subscription)
        #expect(try Self.isVerifiedByOpenSSL(token))
    }

    @Test func theHeaderIsApplesAndNothingMore() throws {
        let parts = try Self.parts(of: signer.transaction(SampleFacts.subscription))
        let header = try #require(try JSONDocument(parts[0]).root.object)
        #expect(header.members.map(\.key) == ["alg", "x5c"])
        #expect(header["alg"]?.string == "ES256")
        let certificates = try #require(header["x5c"]?.array).map { $0.string ?? "" }
        let right = try TestAuthority.shared.chain(.jws).certificates
        #expect(certificates == right.map { text(Base64.encode($0, .standard, isPadded: true)) })
        #expect(parts[2].count == 64)
    }

    @Test func aTransactionIsWrittenInApplesWords() throws {
        let parts = try Self.parts(of: signer.transaction(SampleFacts.subscription))
        #expect(
            text(parts[1]) == """
                {"transactionId":"2000000950112345","originalTransactionId":"2000000950100001",\
                "webOrderLineItemId":"2000000101112131","bundleId":"com.example.simulated",\
                "productId":"com.example.pro.month","subscriptionGroupIdentifier":"21456789",\
                "purchaseDate":1749980000000,"originalPurchaseDate":1740000000000,"expiresDate":1752572000000,\
                "quantity":1,"type":"Auto-Renewable Subscription","inAppOwnershipType":"PURCHASED",\
                "signedDate":1749988800000,"offerType":1,"offerDiscountType":"FREE_TRIAL","offerPeriod":"P1W",\
                "environment":"Production","transactionReason":"RENEWAL","storefront":"USA","price":4990,\
                "currency":"USD"}
                """
        )
    }

    @Test func aRefundIsWrittenInApplesWords() throws {
        let payload = Payload.transaction(SampleFacts.refunded, of: TestAuthority.app(.sandbox))
        #expect(payload["revocationDate"] == .number(1_749_970_000_000))
        #expect(payload["revocationReason"] == .number(1))
        #expect(payload["revocationType"] == .text("REFUND_FULL"))
        #expect(payload["revocationPercentage"] == .number(100_000))
        #expect(payload["appAccountToken"] == .text("7b1f0a52-6c0e-4d7c-9d7a-3a0a2f5c9e11"))
        #expect(payload["transactionReason"] == .text("PURCHASE"))
        #expect(payload["environment"] == .text("Sandbox"))
        #expect(payload["expiresDate"] == nil)
        #expect(payload["isUpgraded"] == nil)
    }

    @Test func aNotificationHoldsFactsThatAreSignedEachByItself() throws {
        var notice = Notice(
            uuid: "5f1f0a64-3d0b-4d4e-9a4e-2d1bb6b2f3a1",
            type: "DID_CHANGE_RENEWAL_STATUS",
            signedAt: TestAuthority.moment
        )
        notice.subtype = "AUTO_RENEW_DISABLED"
        notice.transaction = SampleFacts.subscription
        notice.renewal = SampleFacts.renewal
        let body = try JSONDocument(signer.notificationBody(notice))
        let token = try #require(body.root.object?["signedPayload"]?.string)
        #expect(try Self.isVerifiedByOpenSSL(token))
        let payload = try JSONDocument(Self.parts(of: token)[1])
        let object = try #require(payload.root.object)
        #expect(
            object.members.map(\.key) == [
                "notificationType", "subtype", "notificationUUID", "data", "version", "signedDate",
            ]
        )
        let data = try #require(object["data"]?.object)
        #expect(data["appAppleId"]?.int64 == 1_234_567_890)
        for key in ["signedTransactionInfo", "signedRenewalInfo"] {
            #expect(try Self.isVerifiedByOpenSSL(try #require(data[key]?.string)))
        }
        let renewal = try JSONDocument(Self.parts(of: try #require(data["signedRenewalInfo"]?.string))[1])
        #expect(renewal.root.object?["autoRenewStatus"]?.int64 == 0)
        #expect(renewal.root.object?["expirationIntent"]?.int64 == 1)
    }

    @Test func xcodeSignsWithOneCertificateAndFractions() throws {
        let token = try TestAuthority.signer(.xcode).transaction(SampleFacts.subscription)
        #expect(try Self.isVerifiedByOpenSSL(token))
        let parts = try Self.parts(of: token)
        let header = try JSONDocument(parts[0])
        #expect(header.root.object?["kid"]?.string == "Apple_Xcode_Key")
        #expect(header.root.object?["typ"]?.string == "JWT")
        #expect(header.root.object?["x5c"]?.array?.count == 1)
        let payload = try JSONDocument(parts[1])
        #expect(payload.root.object?["purchaseDate"]?.raw.elementsEqual("1749980000000.2451".utf8) == true)
        #expect(payload.root.object?["isUpgraded"]?.bool == false)
        #expect(payload.root.object?["environment"]?.string == "Xcode")
    }

    @Test func anAppTransactionHasNoSignedDate() throws {
        var download = AppDownload(bundleID: TestAuthority.bundleID, signedAt: TestAuthority.moment)
        download.originalVersion = "1.2"
        let payload = Payload.appTransaction(download, of: TestAuthority.app(.production))
        #expect(payload["signedDate"] == nil)
        #expect(payload["receiptCreationDate"] == .number(TestAuthority.moment.milliseconds))
        #expect(payload["receiptType"] == .text("Production"))
        #expect(payload["originalApplicationVersion"] == .text("1.2"))
    }

    /// Whether the signature still fits the leaf that the right token would send.
    @Test(arguments: JWSFlaw.allCases)
    func aFlawedTokenDiffersFromTheRightOne(flaw: JWSFlaw) throws {
        let signer = try JWSSigner(TestAuthority.shared.chain(.jws))
        let payload = Payload.transaction(SampleFacts.subscription, of: SampleFacts.app)
        let token = try signer.sign(payload, flaw: flaw)
        let right = try Self.parts(of: signer.sign(payload))
        let segments = token.split(separator: ".", omittingEmptySubsequences: false)
        let key = signer.chain.key.publicKey
        var isSigned = false
        if segments.count == 3,
            let signature = try? Base64.decode(Array(segments[2].utf8), .url, padding: .forbidden)
        {
            isSigned = key.isValidES256(
                signature: signature,
                message: Array((segments[0] + "." + segments[1]).utf8)
            )
        }
        let isOnlyHeaderWrong: Set<JWSFlaw> = [
            .algorithmNoneButSigned, .algorithmES384, .algorithmInLowerCase, .algorithmMissing, .algorithmNotText,
            .criticalHeader, .certificatesMissing, .certificatesEmpty, .certificatesNotList, .certificatesNotText,
            .certificatesInURLAlphabet, .certificateTruncated, .headerNotJSON, .headerKeyTwice,
        ]
        let isOnlyPayloadWrong: Set<JWSFlaw> = [.payloadNotJSON, .payloadNotObject, .payloadEmpty]
        #expect(isSigned == (isOnlyHeaderWrong.contains(flaw) || isOnlyPayloadWrong.contains(flaw)))
        if isOnlyHeaderWrong.contains(flaw) {
            #expect(segments[1] == text(Base64.encode(right[1], .url, isPadded: false)))
        }
        if isOnlyPayloadWrong.contains(flaw) {
            #expect(segments[0] == text(Base64.encode(right[0], .url, isPadded: false)))
        }
    }

    @Test(arguments: ChainFlaw.allCases.filter { $0.applies(to: .jws) })
    func everyFlawedChainSigns(flaw: ChainFlaw) throws {
        let chain = try TestAuthority.shared.chain(.jws, flaw: flaw)
        let token = try JWSSigner(chain).sign(.transaction(SampleFacts.subscription, of: SampleFacts.app))
        #expect(token.split(separator: ".").count == 3)
        #expect(
            try JSONDocument(Self.parts(of: token)[0]).root.object?["x5c"]?.array?.count == chain.certificates.count
        )
    }

    @Test func aPayloadKeepsItsOrderWhenChanged() {
        var payload = Payload()
        payload["a"] = .number(1)
        payload["b"] = .list([.text("x"), .null, .decimal("1.50"), .list([]), .object(Payload())])
        payload["c"] = .flag(true)
        payload["a"] = .text("\"\n")
        payload["c"] = nil
        payload["d"] = nil
        #expect(text(payload.json) == #"{"a":"\"\n","b":["x",null,1.50,[],{}]}"#)
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func parts(of token: String) throws -> [[UInt8]] {
        try token.split(separator: ".", omittingEmptySubsequences: false).map {
            try Base64.decode(Array($0.utf8), .url, padding: .forbidden)
        }
    }

    /// With the key of the first certificate, the signature turned into DER.
    private static func isVerifiedByOpenSSL(_ token: String) throws -> Bool {
        let tool = try OpenSSLTool()
        defer { tool.remove() }
        let parts = try parts(of: token)
        let header = try JSONDocument(parts[0])
        let leaf = try #require(header.root.object?["x5c"]?.array?[0]?.utf8)
        let certificate = try tool.write(Base64.decode(Array(leaf), .standard, padding: .required), as: "leaf.der")
        let key = try tool.run(["x509", "-inform", "DER", "-in", certificate, "-noout", "-pubkey"])
        let keyPath = try tool.write(Array(key.text.utf8), as: "key.pem")
        let input = token.split(separator: ".")[0..<2].joined(separator: ".")
        let inputPath = try tool.write(Array(input.utf8), as: "input")
        let signature = try tool.write(der(parts[2]), as: "signature")
        return try tool.run(["dgst", "-sha256", "-verify", keyPath, "-signature", signature, inputPath]).isSuccess
    }

    private static func der(_ raw: [UInt8]) -> [UInt8] {
        let numbers = [raw.prefix(32), raw.suffix(32)].map { number -> [UInt8] in
            let short = Array(number.drop { $0 == 0 })
            let magnitude = (short.first ?? 0) >= 0x80 || short.isEmpty ? [0] + short : short
            return [0x02, UInt8(magnitude.count)] + magnitude
        }
        let body = numbers.flatMap(\.self)
        return [0x30, UInt8(body.count)] + body
    }
}
