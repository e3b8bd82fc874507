import AppleFormats
import Crypto
import Encoding
import PurchaseModel
import Simulator
import TestSupport
import Testing

@Suite struct ReceiptSignerTests {
    private static let receipt = SimulatedReceipt(
        app: SampleFacts.app,
        createdAt: TestAuthority.moment,
        purchases: [SampleFacts.subscription, SampleFacts.refunded]
    )

    @Test(arguments: [Digest.sha1, .sha256], [StoreEnvironment.production, .sandbox])
    func anotherProgramVerifiesTheReceipt(digest: Digest, environment: StoreEnvironment) throws {
        let signer = TestAuthority.signer(environment)
        let receipt = try signer.receipt(Self.receipt.purchases, createdAt: TestAuthority.moment, digest: digest)
        let answer = try Self.verify(receipt, root: TestAuthority.shared.roots()[1])
        #expect(answer.isSuccess, "\(answer.text)")
        var expected = Self.receipt
        expected.app = signer.app
        #expect(answer.content == expected.content)
    }

    @Test func anotherProgramVerifiesXcodesReceipt() throws {
        let receipt = try TestAuthority.signer(.xcode).receipt(
            Self.receipt.purchases,
            createdAt: TestAuthority.moment
        )
        #expect(receipt.starts(with: [0x30, 0x80]))
        #expect(receipt.suffix(2) == [0, 0])
        let root = try TestAuthority.shared.identity(.xcodeReceipt).certificate.der
        let answer = try Self.verify(receipt, root: root)
        #expect(answer.isSuccess, "\(answer.text)")
    }

    @Test func theEnvelopeIsApples() throws {
        let bytes = try TestAuthority.signer().receipt([], createdAt: TestAuthority.moment)
        let envelope = try SignedData(bytes)
        #expect(envelope.version == 1)
        #expect(envelope.digestAlgorithms == [.sha256])
        #expect(envelope.contentType == .data)
        #expect(envelope.certificates.map(Array.init) == (try TestAuthority.shared.chain(.receiptSHA256).certificates))
        #expect(!envelope.hasRevocationLists)
        let signer = try #require(envelope.signers.first)
        #expect(envelope.signers.count == 1)
        #expect(signer.version == 1)
        #expect(signer.signatureAlgorithm == .rsaEncryption)
        #expect(signer.digestAlgorithm == .sha256)
        #expect(signer.signedAttributes == nil)
        #expect(signer.signature.count == 256)
    }

    @Test(arguments: [0, 1, 10, 500])
    func anyNumberOfPurchasesIsReadBack(count: Int) throws {
        let purchases = (0..<count).map { index in
            var purchase = SampleFacts.subscription
            purchase.id = TransactionID(number: 1_000_000 + Int64(index)) ?? purchase.id
            return purchase
        }
        let bytes = try TestAuthority.signer(.production).receipt(purchases, createdAt: TestAuthority.moment)
        let receipt = try AppReceipt(SignedData(bytes).content)
        #expect(receipt.kind == "Production")
        #expect(receipt.bundleID == "com.example.simulated")
        #expect(receipt.applicationVersion == "42")
        #expect(receipt.creationDate == TestAuthority.moment.milliseconds)
        #expect(receipt.appAppleID == 1_234_567_890)
        #expect(receipt.opaqueValue.count == 16)
        #expect(
            receipt.deviceHash.elementsEqual(
                Digest.sha1(Self.receipt.deviceID + receipt.opaqueValue + receipt.bundleIDOctets)
            )
        )
        let ids = receipt.purchases.map { receipt.string($0.transactionID) }
        #expect(Set(ids) == Set(purchases.map { $0.id.description }))
        #expect(Set(receipt.purchases.map(\.expiresDate)) == (count == 0 ? [] : [1_752_572_000_000]))
    }

    @Test func aSandboxReceiptHasTheSandboxsConstants() throws {
        let bytes = try TestAuthority.signer(.sandbox).receipt([SampleFacts.refunded], createdAt: TestAuthority.moment)
        let receipt = try AppReceipt(SignedData(bytes).content)
        #expect(receipt.kind == "ProductionSandbox")
        #expect(receipt.appAppleID == 0)
        #expect(receipt.downloadID == 0)
        #expect(receipt.originalApplicationVersion == "1.0")
        #expect(receipt.originalPurchaseDate == 1_375_340_400_000)
        #expect(receipt.purchases.first?.cancellationDate == 1_749_970_000_000)
        #expect(receipt.purchases.first?.quantity == 3)
    }

    @Test func xcodesReceiptHasItsOwnAttributes() throws {
        let bytes = try TestAuthority.signer(.xcode).receipt(
            Self.receipt.purchases,
            createdAt: TestAuthority.moment
        )
        let receipt = try AppReceipt(SignedData(bytes).content)
        #expect(receipt.kind == "Xcode")
        #expect(receipt.creationDate == TestAuthority.moment.milliseconds)
        #expect(receipt.opaqueValue.count == 8)
        #expect(receipt.purchases.map { receipt.string($0.originalTransactionID) } == ["2000000950100001", nil])
    }

    /// What OpenSSL says; it knows nothing of Apple's rules, and looks for the signer's certificate only in the
    /// receipt.
    @Test(
        arguments: [
            (ReceiptFlaw.noCertificates, "signer certificate not found"),
            (.signerNotIncluded, "signer certificate not found"), (.twoSigners, nil), (.noSigners, "no signers"),
            (.signedAttributes, nil), (.signedAttributesOfOtherContent, "verification failure"),
            (.signerNamedByKey, nil), (.signerSerialWrong, "signer certificate not found"),
            (.signerIssuerWrong, "signer certificate not found"), (.contentChanged, "verification failure"),
            (.contentMissing, "no content"), (.contentTypeWrong, nil), (.digestMismatch, "verification failure"),
            (.signatureBitFlipped, "verification failure"), (.signatureShortened, "verification failure"),
            (.signatureEmpty, "verification failure"), (.truncated, "Error reading"), (.trailingBytes, nil),
        ] as [(ReceiptFlaw, String?)]
    )
    func anotherProgramSeesTheFlaw(flaw: ReceiptFlaw, message: String?) throws {
        for digest in [Digest.sha1, .sha256] {
            let chain = try TestAuthority.shared.chain(digest == .sha1 ? .receiptSHA1 : .receiptSHA256)
            let bytes = try ReceiptSigner(chain, digest: digest).sign(Self.receipt, flaw: flaw)
            let answer = try Self.verify(bytes, root: TestAuthority.shared.roots()[1])
            #expect(answer.isSuccess == (message == nil), "\(answer.text)")
            if let message { #expect(answer.text.contains(message), "\(answer.text)") }
        }
    }

    @Test(arguments: [SigningFamily.receiptSHA1, .receiptSHA256], ChainFlaw.allCases)
    func everyFlawedChainSigns(family: SigningFamily, flaw: ChainFlaw) throws {
        guard flaw.applies(to: family) else { return }
        let chain = try TestAuthority.shared.chain(family, flaw: flaw)
        let bytes = try ReceiptSigner(chain, digest: .sha256).sign(Self.receipt)
        #expect(try SignedData(bytes).certificates.map(Array.init) == chain.certificates)
        #expect(try SignedData(bytes).content == Self.receipt.content[...])
    }

    private struct Answer {
        var isSuccess: Bool
        var text: String
        var content: [UInt8]
    }

    private static func verify(_ receipt: [UInt8], root: [UInt8]) throws -> Answer {
        let tool = try OpenSSLTool()
        defer { tool.remove() }
        let answer = try tool.run([
            "cms", "-verify", "-binary", "-inform", "DER", "-in", try tool.write(receipt, as: "receipt"),
            "-CAfile", try tool.writePEM(root, as: "root"), "-purpose", "any", "-auth_level", "0",
            "-attime", String(TestAuthority.moment.milliseconds / 1_000), "-out", tool.path("content"),
        ])
        return Answer(
            isSuccess: answer.isSuccess,
            text: answer.text,
            content: (try? tool.read("content")) ?? []
        )
    }
}
