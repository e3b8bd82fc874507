import Crypto
import PurchaseModel
import Simulator
import TestSupport
import Testing
import Verification

/// What StoreKit Testing in Xcode signs counts for a test, and only where the operator added its certificate.
@Suite struct XcodeTests {
    enum Kind: CaseIterable {
        case transaction, renewalInfo, appTransaction, notification, receipt

        var member: AuthorityMember { self == .receipt ? .xcodeReceipt : .xcodeJWS }

        func proof(_ environment: StoreEnvironment = .xcode) throws -> [UInt8] {
            let signer = TestAuthority.signer(environment)
            switch self {
            case .transaction: return Array(try signer.transaction(Sample.transaction(0)).utf8)
            case .renewalInfo: return Array(try signer.renewal(Sample.renewal).utf8)
            case .appTransaction: return Array(try signer.appTransaction(Sample.download).utf8)
            case .notification: return Array(try signer.notification(Sample.fullNotice).utf8)
            case .receipt: return try signer.receipt([Sample.transaction(1)], createdAt: Sample.moment)
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func withoutItsCertificateNothingIsProved(kind: Kind) throws {
        for refusesEarly in [false, true] {
            let expecting = Expected(refusesEarly: refusesEarly)
            let examination = try TestVerifier.fresh().examine(kind.proof(), expecting: expecting)
            #expect(examination.reason == .xcode)
            #expect(examination.verdict == .testSigned)
            #expect(!examination.isProved)
        }
    }

    @Test(arguments: Kind.allCases)
    func withItsCertificateATestIsProved(kind: Kind) throws {
        let verifier = try TestVerifier.adding { anchors in
            anchors.addRoot(try TestAuthority.shared.identity(kind.member).certificate)
        }
        let examination = verifier.examine(try kind.proof())
        #expect(examination.reason == .xcode)
        let proof = try #require(examination.proof)
        #expect(proof.provenance.vouchedBy == .xcode)
        #expect(proof.verdict == .testSigned)
        #expect(proof.fact.claims.environment == .xcode)
    }

    /// The certificate is trusted, not its name.
    @Test(arguments: Kind.allCases)
    func aCertificateOfTheSameNameIsAnother(kind: Kind) throws {
        let stranger = SimulatorAuthority(
            validity: AuthorityValidity(Timestamp(seconds: 1_577_836_800)...Timestamp(seconds: 2_208_988_800))
        )
        let verifier = try TestVerifier.adding { anchors in
            anchors.addRoot(try stranger.identity(kind.member).certificate)
        }
        let examination = verifier.examine(try kind.proof())
        #expect(examination.reason == .xcode)
        #expect(!examination.isProved)
    }

    /// Whoever makes a certificate of his own may not speak for the App Store with it, whether or not it was added.
    @Test(arguments: ["Production", "Sandbox", "production", "XCODE", "Testflight", nil])
    func itSpeaksForNoStore(environment: String?) throws {
        let signer = JWSSigner(try TestAuthority.shared.xcodeChain(), isXcode: true)
        var payload = Sample.payload(.xcode)
        payload["environment"] = environment.map { .text($0) }
        let token = try signer.sign(payload)
        let trusting = try TestVerifier.fresh { anchors in
            anchors.addRoot(try TestAuthority.shared.identity(.xcodeJWS).certificate)
        }
        for verifier in [try TestVerifier.fresh(), trusting] {
            let examination = verifier.examine(token)
            #expect(examination.reason == .selfSigned)
            #expect(examination.verdict == .forged)
            #expect(!examination.isProved && examination.isConsistent)
        }
    }

    @Test(arguments: [StoreEnvironment.production, .sandbox])
    func aReceiptOfItsOwnCertificateSpeaksForNoStore(environment: StoreEnvironment) throws {
        let signer = ReceiptSigner(try TestAuthority.shared.xcodeChain(.xcodeReceipt), digest: .sha256)
        let receipt = try signer.sign(Sample.receipt([Sample.transaction()], environment))
        let verifier = try TestVerifier.fresh { anchors in
            anchors.addRoot(try TestAuthority.shared.identity(.xcodeReceipt).certificate)
        }
        #expect(verifier.reason(receipt) == .selfSigned)
    }

    /// To say `Xcode` in the body skips no check.
    @Test(arguments: ["Xcode", "LocalTesting"])
    func theEnvironmentChoosesNoCheck(environment: String) throws {
        var payload = Sample.payload()
        payload["environment"] = .text(environment)
        let table: [(ChainFlaw, Reason)] = [
            (.foreignRoot, .untrustedRoot), (.leafWithoutMarker, .leafMarkerMissing),
            (.contentSignedByOtherKey, .signature), (.noCertificates, .chainLength), (.onlyLeaf, .chainLength),
        ]
        for (flaw, reason) in table {
            let token = try JWSSigner(TestAuthority.shared.chain(.jws, flaw: flaw)).sign(payload)
            #expect(try TestVerifier.simulated().reason(token) == reason)
        }
        let unsigned = try JWSSigner(TestAuthority.shared.xcodeChain(), isXcode: true).sign(
            payload,
            flaw: .payloadChanged
        )
        #expect(try TestVerifier.simulated().reason(unsigned) == .signature)
    }

    /// A certificate that names itself as its issuer and did not sign itself is nobody's.
    @Test func aCertificateMustHaveSignedItself() throws {
        let name = DistinguishedName(commonName: "StoreKit Testing in Xcode", organization: "StoreKit Testing in Xcode")
        let key = try PrivateKey(generate: .p256)
        let issuer = CertificateIssuer(name: name, key: try PrivateKey(generate: .p256), digest: .sha256)
        let certificate = try issuer.issue(
            CertificateIssuer.Request(
                subject: name,
                publicKey: key.publicKey,
                serial: [1],
                notBefore: 0,
                notAfter: Sample.moment.milliseconds * 2,
                extensions: [.basicConstraints(isCA: false)]
            )
        )
        let chain = SigningChain(key: key, signer: certificate, certificates: [certificate.der])
        let verifier = try TestVerifier.fresh { $0.addRoot(certificate) }
        #expect(try verifier.reason(JWSSigner(chain, isXcode: true).sign(Sample.payload(.xcode))) == .selfSigned)
    }

    /// A receipt by a certificate that vouches for itself, with right ones beside it.
    @Test func itStandsAlone() throws {
        var chain = try TestAuthority.shared.xcodeChain(.xcodeReceipt)
        chain.certificates += try TestAuthority.shared.chain(.receiptSHA256).certificates
        let receipt = try ReceiptSigner(chain, digest: .sha256).signAsXcode(Sample.receipt([], .xcode))
        let verifier = try TestVerifier.fresh { anchors in
            anchors.addRoot(try TestAuthority.shared.identity(.xcodeReceipt).certificate)
        }
        #expect(verifier.reason(receipt) == .selfSigned)
    }
}
