import AppleFormats
import Crypto
import Encoding
import PurchaseModel
import Simulator
import TestSupport
import Testing
import Verification

/// Tokens whose chain is right and whose form is not.
@Suite struct TokenFormTests {
    private static let table: [JWSFlaw: Reason] = [
        // Without a third part it is no token, whatever it says of its algorithm.
        .algorithmNone: .jwsForm,
        .algorithmNoneButSigned: .algorithmNotAllowed,
        .algorithmHS256: .algorithmNotAllowed,
        .algorithmES384: .algorithmNotAllowed,
        .algorithmInLowerCase: .algorithmNotAllowed,
        .algorithmMissing: .algorithmNotAllowed,
        .algorithmNotText: .jwsHeader,
        .criticalHeader: .headerNotAllowed,
        .ownKeyInHeader: .headerNotAllowed,
        .certificatesMissing: .chainLength,
        .certificatesEmpty: .chainLength,
        .certificatesNotList: .jwsHeader,
        .certificatesNotText: .jwsHeader,
        .certificatesInURLAlphabet: .jwsHeader,
        .certificateTruncated: .certificateUnreadable,
        // It does not begin as a token does.
        .headerNotJSON: .unrecognised,
        .headerKeyTwice: .jwsHeader,
        .payloadNotJSON: .jwsPayload,
        .payloadNotObject: .jwsPayload,
        .payloadEmpty: .jwsForm,
        .payloadChanged: .signature,
        .headerChanged: .headerNotAllowed,
        .signatureEmpty: .jwsForm,
        .signatureOfZeros: .signature,
        .signatureAsDER: .jwsForm,
        .signatureShortened: .jwsForm,
        .signatureLengthened: .jwsForm,
        .signatureBitFlipped: .signature,
        .twoSegments: .jwsForm,
        .fourSegments: .jwsForm,
        .padded: .jwsForm,
        // White space around a proof is a matter of how it was sent.
        .blankAtEnd: .addedRoot,
    ]

    @Test(arguments: JWSFlaw.allCases)
    func aFlawedTokenIsRefusedForItsFlaw(flaw: JWSFlaw) throws {
        let token = try JWSSigner(TestAuthority.shared.chain(.jws)).sign(Sample.payload(), flaw: flaw)
        let reason = try #require(Self.table[flaw])
        for refusesEarly in [false, true] {
            let examination = try TestVerifier.fresh().examine(
                token,
                expecting: Expected(refusesEarly: refusesEarly)
            )
            #expect(examination.reason == reason)
            #expect(examination.isConsistent)
            #expect(examination.isProved == (reason == .addedRoot))
        }
    }

    /// Each row: what is signed beside a date of revocation of what was upgraded, and whether it was a refund.
    @Test(
        arguments: [
            (nil, nil, nil, false), (0, nil, nil, false), (1, nil, nil, true), (0, "REFUND_FULL", nil, true),
            (0, nil, 40_000, true),
        ] as [(Int?, String?, Int?, Bool)]
    )
    func whatWasUpgradedIsRefundedOnlyWhereMoreIsSaid(
        reason: Int?,
        type: String?,
        percentage: Int?,
        isRefund: Bool
    ) throws {
        var upgraded = Sample.transaction()
        upgraded.isUpgraded = true
        upgraded.revocation = Revocation(at: upgraded.signedAt, reason: reason, type: type, percentage: percentage)
        let token = try JWSSigner(TestAuthority.shared.chain(.jws)).sign(
            .transaction(upgraded, of: TestAuthority.app(.sandbox))
        )
        let examination = try TestVerifier.fresh().examine(token, expecting: Expected())
        let transaction = try #require(examination.proof?.fact.transactions.first)
        #expect(transaction.isUpgraded && transaction.revocation?.at == upgraded.signedAt)
        #expect((transaction.takenBack != nil) == isRefund)
    }

    /// Whoever signs may write any of these; the signature is right each time.
    @Test(arguments: [
        ("jku", #""https://example.com/keys""#), ("jwk", "{}"), ("x5u", #""https://example.com/chain""#),
        ("x5t", #""AAAA""#), ("crit", #"["b64"]"#), ("crit", "[]"), ("b64", "false"), ("zip", #""DEF""#),
        ("alG", #""ES256""#), ("", "1"), ("x5c\u{301}", "[]"),
    ])
    func aHeaderMayNotBringItsOwnRules(name: String, value: String) throws {
        let signer = JWSSigner(try TestAuthority.shared.chain(.jws))
        let header = Array(#"{"\#(name)":\#(value),"#.utf8) + signer.header.json.dropFirst()
        let token = try signer.sign(json: Sample.payload().json, header: header)
        #expect(try TestVerifier.fresh().reason(token) == .headerNotAllowed)
    }

    @Test(arguments: [
        (#"{"alg":"ES256","alg":"ES256","#, Reason.jwsHeader), (#"{"alg":"none","\u0061lg":"ES256","#, .jwsHeader),
        (#"{"alg":["ES256"],"#, .jwsHeader), (#"{"alg":null,"#, .algorithmNotAllowed),
        (#"{"alg":"","#, .algorithmNotAllowed), (#"{"alg":"ES256 ","#, .algorithmNotAllowed),
        (#"{"alg":"ES256K","#, .algorithmNotAllowed), (#"{"alg":"RS256","#, .algorithmNotAllowed),
        (#"{"alg":"PS256","#, .algorithmNotAllowed), (#"{"alg":"EdDSA","#, .algorithmNotAllowed),
        (#"{"alg":"NONE","#, .algorithmNotAllowed), (#"{"alg":"ES256","kid":7,"#, .jwsHeader),
        (#"{"alg":"ES256","typ":"JWT","kid":"../../etc","#, .addedRoot),
    ])
    func onlyOneAlgorithmIsTaken(beginning: String, reason: Reason) throws {
        let signer = JWSSigner(try TestAuthority.shared.chain(.jws))
        let list = try #require(signer.header.json.split(separator: UInt8(ascii: "["), maxSplits: 1).last)
        let header = Array(beginning.utf8) + Array(#""x5c":["#.utf8) + list
        let token = try signer.sign(json: Sample.payload().json, header: header)
        #expect(try TestVerifier.fresh().reason(token) == reason)
    }

    /// r and s at the ends of their range, and beyond.
    @Test func noNumberOutOfRangeIsASignature() throws {
        let token = try CompactJWS(ProofKind.transaction.sharedProof())
        let genuine = Array(try token.signature())
        let zero = [UInt8](repeating: 0, count: 32)
        let one = Array(zero.dropLast()) + [1]
        let all = [UInt8](repeating: 0xFF, count: 32)
        let (r, s) = (Array(genuine.prefix(32)), Array(genuine.suffix(32)))
        for (r, s) in [(zero, zero), (one, one), (zero, s), (r, zero), (all, s), (r, all), (s, r), (one, zero)] {
            let forged = token.signingInput + [UInt8(ascii: ".")] + Base64.encode(r + s, .url, isPadded: false)
            #expect(try TestVerifier.simulated().reason(forged) == .signature)
        }
    }

    /// A signature of another token by the same key is none of this one.
    @Test func partsOfRightTokensDoNotMix() throws {
        let one = try CompactJWS(ProofKind.transaction.sharedProof())
        let other = try CompactJWS(ProofKind.renewalInfo.sharedProof())
        let dot = [UInt8(ascii: ".")]
        let verifier = try TestVerifier.simulated()
        #expect(verifier.reason(one.signingInput + dot + other.signatureSegment) == .signature)
        #expect(
            verifier.reason(other.headerSegment + dot + one.payloadSegment + dot + other.signatureSegment) == .signature
        )
        // What the payload of a token says is no token.
        #expect(verifier.reason(try one.payloadBytes()) == .unrecognised)
    }

    /// A real chain to the root, whose leaf was made for something else: what a verifier that only looks at the root
    /// believes.
    @Test(arguments: [false, true])
    func aLeafThatWasMadeForSomethingElseProvesNothing(isCritical: Bool) throws {
        let intermediate = try TestAuthority.shared.identity(.jwsIntermediate)
        let chain = try TestAuthority.shared.chain(.jws)
        let key = try PrivateKey(generate: .p256)
        var usage = try CertificateExtension.extendedKeyUsage(["1.3.6.1.5.5.7.3.3"])
        usage.isCritical = isCritical
        let leaf = try IssuedCertificate(
            subject: "Simulated Development: A Developer",
            issuer: intermediate,
            key: key,
            extensions: [.basicConstraints(isCA: false), .keyUsage(.digitalSignature), usage]
        ).certificate
        let forged = SigningChain(
            key: key,
            signer: leaf,
            certificates: [leaf.der] + chain.certificates.dropFirst()
        )
        let examination = try TestVerifier.fresh().examine(JWSSigner(forged).sign(Sample.payload()))
        #expect(examination.reason == .leafMarkerMissing)
        #expect(examination.verdict == .forged)
    }
}
