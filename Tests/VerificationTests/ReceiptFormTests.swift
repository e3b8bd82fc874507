import AppleFormats
import Crypto
import PurchaseModel
import Simulator
import TestSupport
import Testing
import Verification

/// Receipts whose chain is right and whose form is not.
@Suite struct ReceiptFormTests {
    private static let table: [ReceiptFlaw: Reason] = [
        .noCertificates: .signerMissing,
        .signerNotIncluded: .signerMissing,
        .twoSigners: .signerCount,
        .noSigners: .signerCount,
        .signedAttributes: .signedAttributes,
        .signedAttributesOfOtherContent: .signedAttributes,
        .signerNamedByKey: .signerMissing,
        .signerSerialWrong: .signerMissing,
        .signerIssuerWrong: .signerMissing,
        .contentChanged: .signature,
        .contentMissing: .cmsForm,
        .contentTypeWrong: .cmsForm,
        .digestMismatch: .signature,
        .signatureBitFlipped: .signature,
        .signatureShortened: .signature,
        .signatureEmpty: .signature,
        .truncated: .truncated,
        .trailingBytes: .cmsForm,
    ]

    @Test(arguments: ReceiptFlaw.allCases, [Digest.sha1, .sha256])
    func aFlawedReceiptIsRefusedForItsFlaw(flaw: ReceiptFlaw, digest: Digest) throws {
        let chain = try TestAuthority.shared.chain(digest == .sha1 ? .receiptSHA1 : .receiptSHA256)
        let receipt = try ReceiptSigner(chain, digest: digest).sign(Sample.receipt(), flaw: flaw)
        let reason = try #require(Self.table[flaw])
        for refusesEarly in [false, true] {
            let expecting = Expected(refusesEarly: refusesEarly)
            let examination = try TestVerifier.fresh().examine(receipt, expecting: expecting)
            #expect(examination.reason == reason)
            #expect(!examination.isProved && examination.isConsistent)
        }
    }

    private static let oldTable: [OldReceiptSigner.Flaw: Reason] = [
        .purchaseChanged: .signature,
        .signatureBitFlipped: .signature,
        .signatureTruncated: .signatureBlob,
        .versionUnknown: .signatureBlob,
        .versionSwapped: .signatureBlob,
        .versionNotSigned: .signature,
        .bytesAfterCertificate: .signatureBlob,
        .certificateTruncated: .signatureBlob,
        .certificateMissing: .signatureBlob,
        .signatureNotBase64: .signatureBlob,
        .purchaseNotBase64: .purchaseInfo,
        .purchaseNotPlist: .purchaseInfo,
        .signatureMissing: .signatureBlob,
        .purchaseMissing: .purchaseInfo,
    ]

    @Test(arguments: OldReceiptSigner.Flaw.allCases, OldReceiptSigner.Version.allCases)
    func aFlawedOldReceiptIsRefusedForItsFlaw(
        flaw: OldReceiptSigner.Flaw,
        version: OldReceiptSigner.Version
    ) throws {
        let signer = OldReceiptSigner(try TestAuthority.shared.chain(version.family), version: version)
        let receipt = try signer.sign(Sample.transaction(), of: TestAuthority.app(), flaw: flaw)
        let reason = try #require(Self.oldTable[flaw])
        for refusesEarly in [false, true] {
            let expecting = Expected(refusesEarly: refusesEarly)
            let examination = try TestVerifier.fresh().examine(receipt, expecting: expecting)
            #expect(examination.reason == reason)
            #expect(examination.report.format == .transactionReceipt)
            #expect(!examination.isProved && examination.isConsistent)
        }
    }

    /// The byte that names the version is signed, so none passes for another.
    @Test func anOldReceiptKeepsItsVersion() throws {
        let three = OldReceiptSigner(try TestAuthority.shared.chain(.receiptSHA1), version: .three)
        let receipt = try PlistReceipt(three.sign(Sample.transaction(), of: TestAuthority.app()))
        let four = PlistReceipt.encode(
            version: 4,
            signature: receipt.signature,
            certificate: receipt.certificate,
            info: Array(receipt.signedBytes.dropFirst()),
            unsigned: []
        )
        #expect(try TestVerifier.simulated().reason(four) == .signature)
    }

    /// An app receipt's signature is by the same key as an iOS 6 receipt's of version 3 and 4, and covers other bytes.
    @Test func theSignatureOfAnAppReceiptIsNoOldReceipt() throws {
        let chain = try TestAuthority.shared.chain(.receiptSHA256)
        let info = OldPlist.encode(OldReceiptSigner.purchaseInfo(Sample.transaction(), of: TestAuthority.app()))
        let appReceipt = try SignedData(ReceiptSigner(chain, digest: .sha256).sign(content: info))
        let signature = Array(try #require(appReceipt.signers.first).signature)
        let forged = PlistReceipt.encode(
            version: 4,
            signature: signature,
            certificate: chain.signer.der,
            info: info,
            unsigned: []
        )
        #expect(try TestVerifier.simulated().reason(forged) == .signature)
    }

    /// A leaf of one family has not the marker of another.
    @Test func aSignerOfOneFamilyIsNoneOfAnother() throws {
        let app = TestAuthority.app()
        let old = try TestAuthority.shared.chain(.receiptSHA256)
        let two = try TestAuthority.shared.chain(.oldReceipt)
        let verifier = try TestVerifier.fresh()
        let asApp = try ReceiptSigner(two, digest: .sha1).sign(Sample.receipt())
        #expect(verifier.reason(asApp) == .keyType)
        // A signature of version 2 has 128 bytes, that key makes 256.
        let asTwo = try OldReceiptSigner(old, version: .two).sign(Sample.transaction(), of: app)
        #expect(verifier.reason(asTwo) == .signatureBlob)
        let tokenChain = try TestAuthority.shared.chain(.jws)
        let asReceipt = SigningChain(
            key: tokenChain.key,
            signer: tokenChain.signer,
            certificates: tokenChain.certificates
        )
        #expect(try verifier.reason(ReceiptSigner(asReceipt, digest: .sha256).sign(Sample.receipt())) == .keyType)
        #expect(try verifier.reason(JWSSigner(old).sign(Sample.payload())) == .keyType)
    }

    /// Attribute 1707 of a purchase. Each row: Apple's number, and what it means.
    @Test(arguments: [
        (Int64(0), ProductKind.nonConsumable), (1, .consumable), (2, .nonRenewing), (3, .autoRenewable),
        (4, .freeSubscription), (5, nil), (-1, nil), (nil, nil),
    ])
    func aReceiptSaysWhatKindAProductIs(number: Int64?, kind: ProductKind?) throws {
        var purchase = SimulatedReceipt.attributes(of: Sample.transaction()).filter { $0.type != 1_707 }
        if let number { purchase.append(.init(1_707, number: number)) }
        var attributes = Sample.receipt().attributes.filter { $0.type != 17 }
        attributes.append(.init(17, value: SimulatedReceipt.content(purchase, isSorted: true)))
        let signer = ReceiptSigner(try TestAuthority.shared.chain(.receiptSHA256), digest: .sha256)
        let receipt = try signer.sign(content: SimulatedReceipt.content(attributes, isSorted: true))
        let claims = try #require(try TestVerifier.simulated().examine(receipt).proof?.fact.claims)
        #expect(claims.transactions.map(\.kind) == [kind])
    }

    /// The content may come in pieces, as from Xcode: signed is what they are together.
    @Test func contentInPiecesIsSignedAsAWhole() throws {
        let signer = ReceiptSigner(try TestAuthority.shared.chain(.receiptSHA256), digest: .sha256)
        let whole = try signer.sign(Sample.receipt())
        var receipt = try ReencodedReceipt(whole)
        let verifier = try TestVerifier.simulated()
        for pieceSize in [nil, 1, 100, 1_000_000] {
            receipt.pieceSize = pieceSize
            #expect(verifier.reason(receipt.encoded) == .addedRoot)
            #expect(verifier.examine(receipt.encoded).proof?.fact.claims == verifier.examine(whole).proof?.fact.claims)
        }
    }
}
