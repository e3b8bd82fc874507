import AppleFormats
import Crypto
import Encoding
import PurchaseModel
import Simulator
import TestSupport
import Testing
import Verification

/// One proof for each reason there is: a reason without one fails here.
@Suite struct ReasonTests {
    struct Row: Sendable, CustomStringConvertible {
        let reason: Reason
        let verdict: Verdict
        let publicWord: PublicReason
        let examine: @Sendable () throws -> Examination

        var description: String { reason.rawValue }
    }

    private static func row(
        _ reason: Reason,
        _ verdict: Verdict,
        _ word: PublicReason,
        _ examine: @escaping @Sendable () throws -> Examination
    ) -> Row {
        Row(reason: reason, verdict: verdict, publicWord: word, examine: examine)
    }

    private static func text(_ text: String) throws -> Examination { try TestVerifier.simulated().examine(text) }

    private static func chain(_ family: Family, _ flaw: ChainFlaw) throws -> Examination {
        let chain = try TestAuthority.shared.chain(family.signing, flaw: flaw)
        return try family.verifier(of: chain).examine(family.proof(by: chain))
    }

    private static func token(_ flaw: JWSFlaw) throws -> Examination {
        try text(JWSSigner(TestAuthority.shared.chain(.jws)).sign(Sample.payload(), flaw: flaw))
    }

    private static func payload(_ change: (inout Payload) -> Void) throws -> Examination {
        var payload = Sample.payload()
        change(&payload)
        return try text(JWSSigner(TestAuthority.shared.chain(.jws)).sign(payload))
    }

    private static func receipt(_ flaw: ReceiptFlaw) throws -> Examination {
        let signer = ReceiptSigner(try TestAuthority.shared.chain(.receiptSHA256), digest: .sha256)
        return try TestVerifier.simulated().examine(signer.sign(Sample.receipt(), flaw: flaw))
    }

    private static func oldReceipt(_ flaw: OldReceiptSigner.Flaw) throws -> Examination {
        let signer = OldReceiptSigner(try TestAuthority.shared.chain(.oldReceipt), version: .two)
        let proof = try signer.sign(Sample.transaction(), of: TestAuthority.app(), flaw: flaw)
        return try TestVerifier.simulated().examine(proof)
    }

    private static func right(_ kind: ProofKind, _ expecting: Expected) throws -> Examination {
        try TestVerifier.simulated().examine(kind.proof(.production), expecting: expecting)
    }

    static let rows: [Row] = notYours + testSigned + forged + malformed + undecidable

    private static let testSigned = [
        row(.addedRoot, .testSigned, .testPurchase) { try right(.transaction, Expected()) },
        row(.xcode, .testSigned, .testPurchase) {
            try text(TestAuthority.signer(.xcode).transaction(Sample.transaction()))
        },
        row(.answeredByTestServer, .testSigned, .testPurchase) {
            let response = try VerifyReceiptResponse(JSONDocument.ofApple(Array(answer.utf8)))
            let url = "http://127.0.0.1/verifyReceipt"
            let said = ServerAnswer(response, in: [], from: url, of: .production, askedAt: Sample.moment)
            return try TestVerifier.simulated().examine(said, expecting: Expected()).examination
        },
    ]

    private static let notYours = [
        row(.foreignBundleID, .notYours, .notForThisApp) {
            try right(.transaction, Expected(bundleID: BundleID(checked: "com.example.other")))
        },
        row(.foreignAppleID, .notYours, .notForThisApp) { try right(.receiptSHA256, Expected(appleID: 7)) },
        row(.environmentNotAccepted, .notYours, .environmentNotAccepted) {
            try right(.transaction, Expected(environments: [.sandbox]))
        },
        row(.unknownProduct, .notYours, .notForThisApp) { try right(.transaction, Expected(products: [])) },
        row(.otherProduct, .notYours, .otherProduct) {
            try right(.transaction, Expected(product: ProductID(checked: "com.example.other.month")))
        },
        row(.foreignDevice, .notYours, .notForThisApp) { try right(.receiptSHA256, Expected(deviceID: [1])) },
    ]

    private static let forged = [
        row(.knownCracker, .forged, .notAuthentic) { try text("com.urus.iap.22290440") },
        row(.algorithmNotAllowed, .forged, .notAuthentic) { try token(.algorithmHS256) },
        row(.headerNotAllowed, .forged, .notAuthentic) { try token(.criticalHeader) },
        row(.chainLength, .forged, .notAuthentic) { try chain(.jws, .fourCertificates) },
        row(.certificateUnreadable, .forged, .notAuthentic) { try token(.certificateTruncated) },
        row(.untrustedRoot, .forged, .notAuthentic) { try chain(.jws, .foreignRoot) },
        row(.issuerMismatch, .forged, .notAuthentic) { try chain(.jws, .leafNamesOtherIssuer) },
        row(.certificateSignature, .forged, .notAuthentic) { try chain(.jws, .leafSignedByOtherKey) },
        row(.certificateExtension, .forged, .notAuthentic) { try chain(.jws, .leafWithUnknownCriticalExtension) },
        row(.intermediateNotCA, .forged, .notAuthentic) { try chain(.jws, .intermediateNotCA) },
        row(.leafIsCA, .forged, .notAuthentic) { try chain(.jws, .reordered) },
        row(.pathLength, .forged, .notAuthentic) { try intermediateUsedAsRoot() },
        row(.keyUsage, .forged, .notAuthentic) { try chain(.jws, .leafMayNotSign) },
        row(.keyType, .forged, .notAuthentic) { try chain(.jws, .leafOnOtherCurve) },
        row(.leafMarkerMissing, .forged, .notAuthentic) { try chain(.jws, .leafWithoutMarker) },
        row(.intermediateMarkerMissing, .forged, .notAuthentic) { try chain(.jws, .intermediateWithoutMarker) },
        row(.certificateNotValid, .forged, .notAuthentic) { try chain(.jws, .leafExpired) },
        row(.signature, .forged, .notAuthentic) { try token(.payloadChanged) },
        row(.signerCount, .forged, .notAuthentic) { try receipt(.twoSigners) },
        row(.signerMissing, .forged, .notAuthentic) { try receipt(.signerNotIncluded) },
        row(.signedAttributes, .forged, .notAuthentic) { try receipt(.signedAttributes) },
        row(.selfSigned, .forged, .notAuthentic) {
            try text(JWSSigner(TestAuthority.shared.xcodeChain(), isXcode: true).sign(Sample.payload(.production)))
        },
        row(.nestedMismatch, .forged, .notAuthentic) {
            let fact = try TestAuthority.signer(.production).transaction(Sample.transaction())
            let outside = Payload.notification(
                Sample.notice(),
                of: TestAuthority.app(),
                transaction: fact,
                renewal: nil
            )
            return try text(TestAuthority.signer().sign(outside))
        },
    ]

    private static let malformed = [
        row(.empty, .malformed, .unreadable) { try text(" ") },
        row(.tooLarge, .malformed, .tooLarge) {
            Verifier(anchors: try TestVerifier.rootsOfBoth(), bytesMax: 1).examine([0x31, 0x31])
        },
        row(.unrecognised, .malformed, .unreadable) { try text("receipt") },
        row(.truncated, .malformed, .unreadable) { try receipt(.truncated) },
        row(.jwsForm, .malformed, .unreadable) { try token(.fourSegments) },
        row(.jwsHeader, .malformed, .unreadable) { try token(.headerKeyTwice) },
        row(.jwsPayload, .malformed, .unreadable) { try token(.payloadNotJSON) },
        row(.cmsForm, .malformed, .unreadable) { try receipt(.trailingBytes) },
        row(.receiptPayload, .malformed, .unreadable) {
            let signer = ReceiptSigner(try TestAuthority.shared.chain(.receiptSHA256), digest: .sha256)
            return try TestVerifier.simulated().examine(signer.sign(content: Array("no set".utf8)))
        },
        row(.plistForm, .malformed, .unreadable) { try text("{ a = b; ") },
        row(.signatureBlob, .malformed, .unreadable) { try oldReceipt(.versionUnknown) },
        row(.purchaseInfo, .malformed, .unreadable) { try oldReceipt(.purchaseNotPlist) },
        row(.answerForm, .malformed, .unreadable) { try text("{") },
        row(.answerWithoutPurchase, .malformed, .unreadable) { try text(#"{"status":21002}"#) },
        row(.signingDate, .malformed, .unreadable) { try payload { $0["signedDate"] = nil } },
        row(.transactionIDForm, .malformed, .unreadable) { try payload { $0["transactionId"] = .text("01") } },
        row(.fieldMissing, .malformed, .unreadable) { try payload { $0["bundleId"] = nil } },
        row(.fieldOutOfRange, .malformed, .unreadable) { try payload { $0["quantity"] = .number(0) } },
    ]

    private static let undecidable = [
        row(.intermediateMissing, .undecidable, .pending) { try issuerUnknown() },
        row(.unsignedAnswer, .undecidable, .pending) { try text(answer) },
        row(.unsignedNotification, .undecidable, .pending) { try text(#"{"notification_type":"CANCEL"}"#) },
        row(.onlyAnID, .undecidable, .pending) { try text("2000000950112345") },
        row(.environmentUnknown, .undecidable, .pending) {
            let token = try JWSSigner(TestAuthority.shared.chain(.jws)).sign(withoutEnvironment)
            return try TestVerifier.simulated().examine(token, expecting: Expected(environments: [.production]))
        },
        row(.noPurchases, .undecidable, .pending) {
            let receipt = try TestAuthority.signer().receipt([], createdAt: Sample.moment)
            return try TestVerifier.simulated().examine(receipt, expecting: Expected(product: Sample.product))
        },
    ]

    private static let answer =
        #"{"status":0,"receipt":{"bundle_id":"com.example.simulated","in_app":[{"quantity":"1","#
        + #""product_id":"a","transaction_id":"1","purchase_date_ms":"1500000000000"}]}}"#

    private static var withoutEnvironment: Payload {
        var payload = Sample.payload()
        payload["environment"] = nil
        return payload
    }

    /// Only Apple's own signature makes anything genuine, and that nobody here can make: recorded proofs show it. A wrong
    /// secret is noticed where the right one is known, and what Apple says where it is asked.
    @Test func everyReasonHasAProof() {
        let elsewhere: Set = [
            Reason.verified, .answeredByApple, .sharedSecret, .refusedByApple, .unknownToApple, .unreadableToApple,
            .ownedByAnother,
        ]
        #expect(Set(Self.rows.map(\.reason)) == Set(Reason.allCases).subtracting(elsewhere))
        #expect(Self.rows.count == Reason.allCases.count - elsewhere.count)
    }

    /// A person who reads it has no table of words beside it.
    @Test(arguments: Reason.allCases) func everyReasonHasAMeaning(reason: Reason) {
        #expect(reason.meaning != reason.rawValue && reason.meaning.hasSuffix("."))
    }

    @Test(arguments: rows)
    func aProofIsRefusedForItsReason(row: Row) throws {
        let examination = try row.examine()
        #expect(examination.reason == row.reason)
        #expect(examination.verdict == row.verdict)
        #expect(examination.reason.publicWord == row.publicWord)
        #expect(examination.isConsistent)
        #expect(examination.isProved == [.addedRoot, .answeredByTestServer].contains(row.reason))
        // An operator is told what was seen.
        if row.verdict != .testSigned, row.reason != .empty { #expect(examination.report.detail != nil) }
    }

    @Test(.enabled(if: Corpus.isPresent, Comment(rawValue: Corpus.absenceNote)))
    func whatAppleSignedIsGenuine() throws {
        let sample = try #require(Corpus.cases.first { $0.isGenuine })
        let examination = try TestVerifier.apple().examine(sample.bytes())
        #expect(examination.reason == .verified)
        #expect(examination.verdict == .genuine)
        #expect(examination.reason.publicWord == .accepted)
    }

    /// The intermediate, whose path length is 0, in the place of a root: it may have no authority below it.
    private static func intermediateUsedAsRoot() throws -> Examination {
        let authority = try TestAuthority.shared.identity(.jwsIntermediate)
        let key = try PrivateKey(generate: .p384)
        let lower = SigningIdentity(
            key: key,
            certificate: try IssuedCertificate(
                subject: "Simulated Subordinate Authority",
                issuer: authority,
                key: key,
                digest: .sha384,
                extensions: [
                    .basicConstraints(isCA: true), .keyUsage(.certificateSigning),
                    CertificateExtension(oid: "1.2.840.113635.100.6.2.1", isCritical: false, value: [5, 0]),
                ]
            ).certificate
        )
        let leafKey = try PrivateKey(generate: .p256)
        let leaf = try IssuedCertificate(
            subject: "Simulated Signer",
            issuer: lower,
            key: leafKey,
            digest: .sha384,
            extensions: [CertificateExtension(oid: "1.2.840.113635.100.6.11.1", isCritical: false, value: [5, 0])]
        ).certificate
        let chain = SigningChain(
            key: leafKey,
            signer: leaf,
            certificates: [leaf.der, lower.certificate.der, authority.certificate.der]
        )
        let verifier = try TestVerifier.adding { $0.addRoot(authority.certificate) }
        return verifier.examine(try JWSSigner(chain).sign(Sample.payload()))
    }

    /// An iOS 6 receipt whose signer names an authority of Apple's that nobody has given us.
    private static func issuerUnknown() throws -> Examination {
        let name = DistinguishedName([
            .init("C", "US"), .init("O", "Apple Inc."), .init("OU", "Apple Certification Authority"),
            .init("CN", "Apple iTunes Store Certification Authority"),
        ])
        let key = try PrivateKey(generate: .rsa1024)
        let issuer = CertificateIssuer(name: name, key: try PrivateKey(generate: .rsa2048), digest: .sha1)
        let certificate = try issuer.issue(
            CertificateIssuer.Request(
                subject: DistinguishedName(commonName: "PurchaseReceiptCertificate"),
                publicKey: key.publicKey,
                serial: [1],
                notBefore: 0,
                notAfter: Sample.moment.milliseconds * 2,
                extensions: [
                    .basicConstraints(isCA: false), .keyUsage(.digitalSignature),
                    CertificateExtension(oid: "1.2.840.113635.100.6.5.1", isCritical: false, value: [5, 0]),
                ]
            )
        )
        let chain = SigningChain(key: key, signer: certificate, certificates: [certificate.der])
        let receipt = try OldReceiptSigner(chain, version: .two).sign(Sample.transaction(), of: TestAuthority.app())
        return try TestVerifier.simulated().examine(receipt)
    }
}
