import AppleFormats
import Crypto
import PurchaseModel

/// Proves Apple's JWS: header, then chain, then signature, then payload, in this order.
///
/// Source: RFC 7515; Apple, *JWSTransaction* and *JWSDecodedHeader*; the rules of Apple's own server libraries, save
/// that the root must be spelled out and is compared byte by byte, and that nothing switches a check off.
final class JWSVerifier: Sendable {
    private let anchors: TrustAnchors
    private let builder: ChainBuilder
    private let shelf: CertificateShelf
    private let cache = ChainCache<Signer> { $0.origin.isVouchedFor }
    /// By the certificates alone: whoever writes the same ones in another header must not have them judged anew.
    private let origins = ChainCache<Signer.Origin> { $0.isVouchedFor }

    init(
        anchors: TrustAnchors,
        shelf: CertificateShelf,
        sighted: @escaping @Sendable ([CertificateSighting]) -> Void
    ) {
        self.anchors = anchors
        self.shelf = shelf
        builder = ChainBuilder(anchors: anchors, profile: .jws, sighted: sighted)
    }

    /// Apple's headers have 4.6 kB, nearly all of it certificates.
    private static let headerBytesMax = 16 * 1_024

    /// Who signed, as the header's certificates tell: everything but the dates has been checked.
    final class Signer: Sendable {
        enum Origin: Sendable {
            case chain(CertificateChain)
            case xcode(Certificate, isTrusted: Bool)

            var isVouchedFor: Bool { if case .xcode(_, let isTrusted) = self { isTrusted } else { true } }
        }

        let origin: Origin
        let key: PublicKey
        /// Four fifths of what is signed are the header, and the same every time: that much is hashed already.
        let hashed: DigestPrefix

        init(_ origin: Origin, of token: CompactJWS) {
            self.origin = origin
            key =
                switch origin {
                case .chain(let chain): chain.leaf.publicKey
                case .xcode(let certificate, _): certificate.publicKey
                }
            hashed = DigestPrefix(.sha256, of: token.signingPrefix.span)
        }

        /// Whether one trust covers both: the same kind of root, or the very same certificate of Xcode's.
        func isTrustedLike(_ other: Signer) -> Bool {
            switch (origin, other.origin) {
            case (.chain(let one), .chain(let another)): one.voucher == another.voucher
            case (.xcode(let one, _), .xcode(let another, _)): one == another
            default: false
            }
        }
    }

    func verify(
        _ token: CompactJWS,
        _ expecting: Expectation,
        _ report: inout Report,
        _ trace: inout Trace
    ) throws(Refusal) -> Provenance? {
        var early: SignedFacts?
        if expecting.refusesEarly {
            // Reading what is not proved yet is cheaper than proving what is not for us. It decides refusals only.
            early = try refuseEarly(token, expecting, &report, &trace)
        }
        let signer: Signer
        do throws(Refusal) {
            signer = try trace.check(.chain) { () throws(Refusal) in try self.signer(of: token) }
            try trace.check(.signature) { () throws(Refusal) in try checkSignature(of: token, by: signer) }
        } catch {
            // It was read anyway: by what a forgery claims it is found.
            if let early { report.claims = early.claims }
            throw error
        }
        let inner: [InnerFact]
        if let early = early.take() {
            inner = report.take(early)
            trace.passed(.content)
        } else {
            inner = report.take(try trace.check(.content) { () throws(Refusal) in try SignedFacts(token) })
        }
        let provenance = try vouch(signer, expecting, &report, &trace)
        if report.format == .jwsNotification {
            try NestedVerifier(verifier: self).verify(inner, by: signer, expecting, &report, &trace)
        }
        try IdentityRules.check(report.claims, of: report.format, expecting, &trace)
        if expecting.deviceID != nil { trace.skipped(.device, "a JWS has no device hash that a server can check") }
        return provenance
    }

    /// Proves a JWS that stands inside another: by the same rules, whatever vouches for the outer one.
    func verifyNested(_ token: CompactJWS, moment: Timestamp?) throws(Refusal) -> (SignedFacts, Signer) {
        let signer = try signer(of: token)
        try checkSignature(of: token, by: signer)
        let facts = try SignedFacts(token)
        let signedAt = try JWSVerifier.signingDate(of: facts.claims)
        switch signer.origin {
        case .xcode: try XcodeCertificate.check(facts.claims.environment)
        case .chain(let chain):
            guard chain.isValid(at: moment ?? signedAt) else { throw chain.notValid(at: moment ?? signedAt) }
        }
        return (facts, signer)
    }

    /// What an unproved JWS says, for the operator.
    static func unprovedClaims(of token: CompactJWS) -> (ProofFormat, Claims)? {
        SignedFacts.readable(in: token)
    }

    /// The certificates that a header names, whether or not anything vouches for them.
    static func certificates(of token: CompactJWS) -> [[UInt8]] {
        guard let bytes = try? token.headerBytes(), let header = try? JWSHeader(bytes) else { return [] }
        return header.certificates ?? []
    }

    private func signer(of token: CompactJWS) throws(Refusal) -> Signer {
        guard token.headerSegment.count <= JWSVerifier.headerBytesMax else {
            throw Refusal(.jwsHeader, "a header of \(token.headerSegment.count) bytes")
        }
        return try cache.answer(for: token.headerSegment) { () throws(Refusal) in
            let header: JWSHeader
            do throws(FormatFault) {
                header = try JWSHeader(try token.headerBytes())
            } catch {
                throw Refusal(.jwsHeader, error.sentence)
            }
            guard header.algorithm == "ES256" else {
                throw Refusal(.algorithmNotAllowed, "alg is \(header.algorithm ?? "absent")")
            }
            guard header.otherParameters.isEmpty else {
                throw Refusal(.headerNotAllowed, header.otherParameters.joined(separator: ", "))
            }
            let certificates = header.certificates ?? []
            let key = ChainKey.of(certificates.map { $0[...] })
            let origin = try origins.answer(for: key[...]) { () throws(Refusal) in try self.origin(named: certificates)
            }
            return Signer(origin, of: token)
        }
    }

    private func origin(named certificates: [[UInt8]]) throws(Refusal) -> Signer.Origin {
        if certificates.count == 1, let der = certificates.first {
            let certificate = try shelf.certificate(der[...])
            guard certificate.isSelfIssued else { throw Refusal(.chainLength, "one certificate in x5c") }
            guard certificate.publicKey.kind == .p256 else { throw Refusal(.keyType, "the key is not P-256") }
            let own = try XcodeCertificate.checked(certificate, among: [certificate])
            return .xcode(own, isTrusted: anchors.isTrustedXcode(own))
        }
        guard certificates.count == 3 else { throw Refusal(.chainLength, "\(certificates.count) certificates in x5c") }
        // The cheapest check first: a made-up root is refused before anything of it is parsed.
        guard let root = anchors.root(equalTo: certificates[2]) else {
            throw Refusal(.untrustedRoot, "the root in x5c is none of the pinned ones")
        }
        let leaf = try shelf.certificate(certificates[0][...])
        let intermediate = try shelf.certificate(certificates[1][...])
        return .chain(try builder.chain(leaf, intermediate, root))
    }

    private func checkSignature(of token: CompactJWS, by signer: Signer) throws(Refusal) {
        var signature = InlineArray<64, UInt8>(repeating: 0)
        do throws(FormatFault) {
            var output = signature.mutableSpan
            try token.decodeSignature(into: &output)
        } catch {
            throw Refusal(.jwsForm, error.sentence)
        }
        var digest = InlineArray<32, UInt8>(repeating: 0)
        var room = digest.mutableSpan
        signer.hashed.hash(appending: token.payloadSegment.span, into: &room)
        guard signer.key.isValidES256(signature: signature.span, digest: digest.span) else {
            throw Refusal(.signature, "the leaf's key did not sign this token")
        }
    }

    /// - Returns: no provenance for a certificate of Xcode's that the operator has not added.
    private func vouch(
        _ signer: Signer,
        _ expecting: Expectation,
        _ report: inout Report,
        _ trace: inout Trace
    ) throws(Refusal) -> Provenance? {
        let signedAt = try JWSVerifier.signingDate(of: report.claims)
        switch signer.origin {
        case .xcode(let certificate, let isTrusted):
            report.certificates = [CertificateFacts(certificate)]
            let environment = report.claims.environment
            try trace.check(.validity) { () throws(Refusal) in try XcodeCertificate.check(environment) }
            report.note(.xcode)
            return isTrusted ? Provenance(vouchedBy: .xcode, signedAt: signedAt) : nil
        case .chain(let chain):
            if !expecting.refusesEarly { report.certificates = chain.certificates }
            let moment = expecting.moment ?? signedAt
            try trace.check(.validity) { () throws(Refusal) in
                guard chain.isValid(at: moment) else { throw chain.notValid(at: moment) }
            }
            report.note(chain.voucher)
            return Provenance(vouchedBy: chain.voucher, signedAt: signedAt)
        }
    }

    private static func signingDate(of claims: Claims) throws(Refusal) -> Timestamp {
        guard let signedAt = claims.signedAt else {
            throw Refusal(.signingDate, "neither signedDate nor receiptCreationDate")
        }
        return signedAt
    }

    private func refuseEarly(
        _ token: CompactJWS,
        _ expecting: Expectation,
        _ report: inout Report,
        _ trace: inout Trace
    ) throws(Refusal) -> SignedFacts {
        try trace.check(.triage) { () throws(Refusal) in
            let facts = try SignedFacts(token)
            report.format = facts.format
            do throws(Refusal) {
                if let bundleID = facts.claims.bundleID { try IdentityRules.checkBundle(bundleID, expecting) }
                if facts.claims.environment != nil { try IdentityRules.checkEnvironment(facts.claims, expecting) }
                try IdentityRules.checkProducts(facts.claims, expecting)
            } catch {
                report.claims = facts.claims
                throw error
            }
            return facts
        }
    }
}

extension Report {
    /// Takes over what a payload says: moved and not copied, for a transaction is large.
    ///
    /// - Returns: the signed facts inside.
    fileprivate mutating func take(_ facts: consuming SignedFacts) -> [InnerFact] {
        format = facts.format
        claims = facts.claims
        return facts.inner
    }
}
