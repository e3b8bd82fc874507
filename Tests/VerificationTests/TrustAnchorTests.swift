import Crypto
import PurchaseModel
import Simulator
import TestSupport
import Testing
import Verification

/// Whom a verifier believes, and what an operator can add to that.
@Suite struct TrustAnchorTests {
    @Test(arguments: ProofKind.allCases, [StoreEnvironment.production, .sandbox])
    func anAddedRootNeverMakesAnythingGenuine(kind: ProofKind, environment: StoreEnvironment) throws {
        let proof = try kind.proof(environment)
        for refusesEarly in [false, true] {
            let expecting = Expected(environments: [environment], refusesEarly: refusesEarly)
            let examination = try TestVerifier.simulated().examine(proof, expecting: expecting)
            #expect(examination.reason == .addedRoot)
            #expect(examination.verdict == .testSigned)
            #expect(examination.proof?.provenance.vouchedBy == .addedRoot)
            #expect(examination.proof?.verdict == .testSigned)
            #expect(examination.isConsistent)
        }
    }

    /// Nothing but its chain makes a proof test-signed: with the same bytes nobody else believes it.
    @Test(arguments: ProofKind.allCases)
    func withoutItNothingIsBelieved(kind: ProofKind) throws {
        let examination = try TestVerifier.apple().examine(kind.sharedProof())
        #expect(examination.verdict == .forged)
        #expect(!examination.isProved)
    }

    /// A root that bears the name of Apple's, with another key.
    @Test func anAddedRootOfApplesNameIsNotApples() throws {
        let name = DistinguishedName([
            .init("CN", "Apple Root CA - G3"), .init("OU", "Apple Certification Authority"), .init("O", "Apple Inc."),
            .init("C", "US"),
        ])
        let rootKey = try PrivateKey(generate: .p384)
        let root = SigningIdentity(
            key: rootKey,
            certificate: try IssuedCertificate(
                subject: name,
                issuer: nil,
                key: rootKey,
                digest: .sha384,
                extensions: [.basicConstraints(isCA: true), .keyUsage(.certificateSigning)]
            ).certificate
        )
        let chain = try Self.chain(under: root)
        let token = try JWSSigner(chain).sign(Sample.payload())
        #expect(try TestVerifier.apple().reason(token) == .untrustedRoot)
        let trusting = try TestVerifier.adding { $0.addRoot(root.certificate) }
        #expect(trusting.reason(token) == .addedRoot)
        // With Apple's own root in the third place its key is asked, and did not sign.
        var mixed = chain
        mixed.certificates[2] = try BuiltIn.certificate("AppleRootCAG3").der
        let forged = try JWSSigner(mixed).sign(Sample.payload())
        #expect(trusting.reason(forged) == .certificateSignature)
        #expect(try TestVerifier.apple().reason(forged) == .certificateSignature)
    }

    /// Apple's intermediate names its issuer; that one's key must have signed it, whatever was added.
    @Test func applesIntermediateUnderAnAddedRootIsRefused() throws {
        var chain = try TestAuthority.shared.chain(.jws)
        chain.certificates[1] = try BuiltIn.certificate("AppleWWDRCAG6").der
        let token = try JWSSigner(chain).sign(Sample.payload())
        #expect(try TestVerifier.simulated().reason(token) == .issuerMismatch)
    }

    /// A folder of roots that holds Apple's own, and all that belongs to it, changes nothing for Apple's proofs.
    @Test(.enabled(if: Corpus.isPresent, Comment(rawValue: Corpus.absenceNote)))
    func applesOwnRootStaysApples() throws {
        let verifier = try TestVerifier.adding { anchors in
            for name in try BuiltIn.names() + BuiltIn.names() { anchors.addRoot(try BuiltIn.certificate(name)) }
        }
        let genuine = Corpus.cases.filter { $0.isGenuine && $0.expect.isGenuineOldReceiptAtPurchase == nil }
        #expect(genuine.count > 30)
        for sample in genuine {
            let examination = verifier.examine(try sample.bytes())
            #expect(examination.reason == .verified, "\(sample)")
            #expect(examination.proof?.provenance.vouchedBy == .apple)
        }
    }

    /// What is no authority does not become one by being added.
    @Test func anAddedLeafIsNoRoot() throws {
        let chain = try TestAuthority.shared.chain(.receiptSHA256)
        let verifier = try TestVerifier.adding { anchors in
            anchors.addRoot(try Certificate(der: chain.certificates[0]))
            anchors.addRoot(try Certificate(der: chain.certificates[1]))
        }
        #expect(try verifier.reason(ReceiptSigner(chain, digest: .sha256).sign(Sample.receipt())) == .untrustedRoot)
    }

    /// Whoever holds the key of an added root can certify Apple's authority with it: a chain of Apple's still counts
    /// as Apple's.
    @Test(.enabled(if: Corpus.isPresent, Comment(rawValue: Corpus.absenceNote)))
    func theKeyOfAnAddedRootCannotTakeAnythingFromApple() throws {
        let sample = try #require(Corpus.cases.first { $0.id == "receipt-186" })
        let genuine = try Corpus.unwrapped(sample)
        let root = try TestAuthority.shared.identity(.receiptRoot)
        let authority = try BuiltIn.certificate("AppleWWDRCAG5")
        let cross = try IssuedCertificate(
            subject: IssuedCertificate.name(of: authority),
            issuer: root,
            key: authority.publicKey,
            extensions: [
                .basicConstraints(isCA: true, pathLength: 0), .keyUsage(.certificateSigning),
                CertificateExtension(oid: "1.2.840.113635.100.6.2.1", isCritical: false, value: [5, 0]),
            ]
        ).certificate
        #expect(cross.fields.subjectDER == authority.fields.subjectDER)
        var receipt = try ReencodedReceipt(genuine)
        receipt.certificates[1] = cross.der
        receipt.certificates[2] = root.certificate.der
        for verifier in [try TestVerifier.fresh(), try TestVerifier.apple()] {
            #expect(verifier.examine(receipt.encoded).proof?.provenance.vouchedBy == .apple)
        }
    }

    /// A leaf, an intermediate and a root of Apple's shape.
    private static func chain(under root: SigningIdentity) throws -> SigningChain {
        let intermediateKey = try PrivateKey(generate: .p384)
        let intermediate = SigningIdentity(
            key: intermediateKey,
            certificate: try IssuedCertificate(
                subject: "Lookalike Developer Relations",
                issuer: root,
                key: intermediateKey,
                digest: .sha384,
                extensions: [
                    .basicConstraints(isCA: true, pathLength: 0), .keyUsage(.certificateSigning),
                    CertificateExtension(oid: "1.2.840.113635.100.6.2.1", isCritical: false, value: [5, 0]),
                ]
            ).certificate
        )
        let key = try PrivateKey(generate: .p256)
        let leaf = try IssuedCertificate(
            subject: "Lookalike Receipt Signing",
            issuer: intermediate,
            key: key,
            digest: .sha384,
            extensions: [
                .basicConstraints(isCA: false), .keyUsage(.digitalSignature),
                CertificateExtension(oid: "1.2.840.113635.100.6.11.1", isCritical: false, value: [5, 0]),
            ]
        ).certificate
        return SigningChain(
            key: key,
            signer: leaf,
            certificates: [leaf.der, intermediate.certificate.der, root.certificate.der]
        )
    }
}
