import AppleFormats
import Crypto
import PurchaseModel
import Simulator
import TestSupport
import Testing
import Verification

/// Ids are bytes. What is no id refuses the proof; what looks like another id is not that one.
@Suite struct SignedIdentifierTests {
    private static let ids: [(text: String, reason: Reason)] = [
        ("0", .addedRoot), ("9223372036854775807", .addedRoot), ("9223372036854775808", .transactionIDForm),
        ("00", .transactionIDForm), ("02000000950112345", .transactionIDForm), ("-1", .transactionIDForm),
        ("+1", .transactionIDForm), (" 1", .transactionIDForm), ("1 ", .transactionIDForm), ("1e3", .transactionIDForm),
        ("0x10", .transactionIDForm), ("12a", .transactionIDForm), ("１２", .transactionIDForm),
        ("1\u{301}", .transactionIDForm), ("٣", .transactionIDForm), ("1'; DROP TABLE x; --", .transactionIDForm),
        (String(repeating: "9", count: 4_000), .transactionIDForm),
    ]

    @Test(arguments: ids)
    func aTransactionIDIsANumber(text: String, reason: Reason) throws {
        for key in ["transactionId", "originalTransactionId"] {
            var payload = Sample.payload()
            payload[key] = .text(text)
            let token = try JWSSigner(TestAuthority.shared.chain(.jws)).sign(payload)
            let examination = try TestVerifier.simulated().examine(token)
            #expect(examination.reason == reason)
            #expect(examination.isProved == (reason == .addedRoot))
        }
        #expect(try receipt(1_703, .init(1_703, text: text)) == reason)
        #expect(try oldReceipt("transaction-id", text) == (reason == .addedRoot ? .addedRoot : .transactionIDForm))
    }

    @Test func aTransactionIDMustBeThere() throws {
        var payload = Sample.payload()
        payload["transactionId"] = .text("")
        #expect(try reason(payload) == .transactionIDForm)
        payload["transactionId"] = .null
        #expect(try reason(payload) == .fieldMissing)
        payload["transactionId"] = .number(2_000_000_950_112_345)
        #expect(try reason(payload) == .jwsPayload)
        payload = Sample.payload()
        payload["originalTransactionId"] = nil
        #expect(try reason(payload) == .addedRoot)
        #expect(try receipt(1_703, nil) == .fieldMissing)
        #expect(try receipt(1_705, nil) == .addedRoot)
        #expect(try oldReceipt("transaction-id", nil) == .fieldMissing)
    }

    private static let products: [(text: String, reason: Reason)] = [
        ("a", .addedRoot), (String(repeating: "p", count: 255), .addedRoot),
        (String(repeating: "p", count: 256), .fieldOutOfRange), ("", .fieldOutOfRange), ("a b", .fieldOutOfRange),
        ("caf\u{E9}", .fieldOutOfRange), ("cafe\u{301}", .fieldOutOfRange), ("a\"\u{301}", .fieldOutOfRange),
        ("a\n", .fieldOutOfRange), ("<script>alert(1)</script>", .addedRoot), ("a\u{202E}b", .fieldOutOfRange),
        ("com.example.simulated.\u{212A}", .fieldOutOfRange), ("';--", .addedRoot),
    ]

    @Test(arguments: products)
    func aProductIsPrintableASCII(text: String, reason: Reason) throws {
        var payload = Sample.payload()
        payload["productId"] = .text(text)
        #expect(try self.reason(payload) == reason)
        // An empty text is Apple's way to say none.
        let absent: Reason = text.isEmpty ? .fieldMissing : reason
        #expect(try receipt(1_702, .init(1_702, text: text)) == absent)
        #expect(try oldReceipt("product-id", text) == absent)
    }

    /// Texts that are equal to Swift and different in their bytes.
    @Test(arguments: [
        ("com.example.Kiosk", "com.example.\u{212A}iosk"), ("com.example.simulated", "com.example.simulated\u{301}"),
        ("com.example.simulated", "com.example.simulated\u{0}"), ("com.example.simulated", "com.example.simulated "),
        ("com.example.simulated", "COM.example.simulated"), ("com.example.simulated", "com.example.simulatedx"),
        ("com.example.simulated", "com.example.simulate"), ("com.example.simulated", ""),
        ("com.example.`", "com.example.\u{1FEF}"), ("com.example;a", "com.example\u{37E}a"),
    ])
    func aBundleIDIsComparedByItsBytes(expected: String, signed: String) throws {
        let bundle = try #require(BundleID(expected))
        var payload = Sample.payload()
        for refusesEarly in [false, true] {
            let expecting = Expected(bundleID: bundle, refusesEarly: refusesEarly)
            payload["bundleId"] = .text(signed)
            let token = try JWSSigner(TestAuthority.shared.chain(.jws)).sign(payload)
            // No JSON text with NUL is read at all.
            let isText = !signed.utf8.contains(0)
            let reason = try TestVerifier.simulated().examine(token, expecting: expecting).reason
            #expect(reason == (isText ? .foreignBundleID : .jwsPayload))
            payload["bundleId"] = .text(expected)
            let right = try JWSSigner(TestAuthority.shared.chain(.jws)).sign(payload)
            #expect(try TestVerifier.simulated().examine(right, expecting: expecting).isProved)
            let foreign = try signedReceipt(replacing: 2, with: .init(2, text: signed))
            let examination = try TestVerifier.simulated().examine(foreign, expecting: expecting)
            #expect(examination.verdict != .testSigned && !examination.isProved)
        }
    }

    @Test(arguments: [
        (Int64(1), Reason.addedRoot), (10, .addedRoot), (Int64(Int32.max), .addedRoot),
        (Int64(Int32.max) + 1, .fieldOutOfRange), (0, .fieldOutOfRange), (-1, .fieldOutOfRange),
        (.min, .fieldOutOfRange), (.max, .fieldOutOfRange),
    ])
    func aQuantityIsANumberOfGoods(number: Int64, reason: Reason) throws {
        var payload = Sample.payload()
        payload["quantity"] = .number(number)
        #expect(try self.reason(payload) == reason)
        #expect(try receipt(1_701, .init(1_701, number: number)) == reason)
        #expect(try oldReceipt("quantity", String(number)) == reason)
    }

    /// Moments at the ends of what can be written trap nowhere, and no certificate is valid there.
    @Test(arguments: [Int64.min, -62_135_769_600_000, -1, 0, Int64.max])
    func aMomentMayBeAnyNumber(milliseconds: Int64) throws {
        var payload = Sample.payload()
        for key in ["purchaseDate", "originalPurchaseDate", "expiresDate", "revocationDate"] {
            payload[key] = .number(milliseconds)
        }
        #expect(try reason(payload) == .addedRoot)
        payload["signedDate"] = .number(milliseconds)
        #expect(try reason(payload) == .certificateNotValid)
    }

    @Test(arguments: ["1e400", "1.5e308", "9223372036854775808", "1e19", "0.5"])
    func aNumberThatDoesNotFitIsRefused(digits: String) throws {
        for key in ["quantity", "price"] {
            let body =
                #"{"transactionId":"1","productId":"a","bundleId":"b","purchaseDate":1,"signedDate":1,"#
                + "\"\(key)\":\(digits)}"
            let token = try JWSSigner(TestAuthority.shared.chain(.jws)).sign(json: Array(body.utf8))
            #expect(try TestVerifier.simulated().reason(token) == .jwsPayload)
        }
    }

    @Test func theMomentOfSigningMustBeThere() throws {
        var payload = Sample.payload()
        payload["signedDate"] = nil
        #expect(try reason(payload) == .signingDate)
        #expect(try receiptReason(replacing: 12, with: nil) == .signingDate)
        #expect(try receiptReason(replacing: 12, with: .init(12, date: "")) == .signingDate)
        #expect(try receiptReason(replacing: 12, with: .init(12, date: "2024-02-30T00:00:00Z")) == .receiptPayload)
        var download = Payload.appTransaction(Sample.download, of: TestAuthority.app())
        download["receiptCreationDate"] = nil
        #expect(try reason(download) == .signingDate)
        let keys = ["purchase-date", "purchase-date-ms"]
        let pairs = OldReceiptSigner.purchaseInfo(Sample.transaction(), of: TestAuthority.app())
        let info = OldPlist.encode(pairs.filter { !keys.contains($0.key) })
        let signer = OldReceiptSigner(try TestAuthority.shared.chain(.oldReceipt), version: .two)
        let old = try signer.sign(purchaseInfo: info, of: TestAuthority.app())
        #expect(try TestVerifier.simulated().reason(old) == .signingDate)
    }

    private func reason(_ payload: Payload) throws -> Reason {
        try TestVerifier.simulated().reason(JWSSigner(TestAuthority.shared.chain(.jws)).sign(payload))
    }

    /// A receipt whose one purchase has another attribute, or lacks it.
    private func receipt(_ type: Int64, _ attribute: SimulatedReceipt.Attribute?) throws -> Reason {
        var purchase = SimulatedReceipt.attributes(of: Sample.transaction()).filter { $0.type != type }
        if let attribute { purchase.append(attribute) }
        let content = SimulatedReceipt.content(purchase, isSorted: true)
        return try receiptReason(replacing: 17, with: .init(17, value: content))
    }

    private func receiptReason(
        replacing type: Int64,
        with attribute: SimulatedReceipt.Attribute?
    ) throws -> Reason {
        try TestVerifier.simulated().reason(signedReceipt(replacing: type, with: attribute))
    }

    private func signedReceipt(
        replacing type: Int64,
        with attribute: SimulatedReceipt.Attribute?
    ) throws -> [UInt8] {
        var attributes = Sample.receipt().attributes.filter { $0.type != type }
        if let attribute { attributes.append(attribute) }
        let signer = ReceiptSigner(try TestAuthority.shared.chain(.receiptSHA256), digest: .sha256)
        return try signer.sign(content: SimulatedReceipt.content(attributes, isSorted: true))
    }

    private func oldReceipt(_ key: String, _ value: String?) throws -> Reason {
        var pairs = OldReceiptSigner.purchaseInfo(Sample.transaction(), of: TestAuthority.app())
        pairs.removeAll { $0.key == key }
        if let value { pairs.append(OldPlist.Pair(key: key, value: value)) }
        let signer = OldReceiptSigner(try TestAuthority.shared.chain(.oldReceipt), version: .two)
        let receipt = try signer.sign(purchaseInfo: OldPlist.encode(pairs), of: TestAuthority.app())
        return try TestVerifier.simulated().reason(receipt)
    }
}
