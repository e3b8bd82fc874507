import AppleFormats
import Crypto
import Encoding
import PurchaseModel

/// Proves the transaction receipts of iOS 6: one signature over one purchase, by a certificate whose issuer the
/// receipt does not carry.
///
/// What stands beside the signature (`environment`, `pod`, `signing-status`) is read by nobody here. Source: Apple's
/// guidance of 2012 (TP40012484), checked on genuine receipts of 2011 to 2025.
final class PlistReceiptVerifier: Sendable {
    private let anchors: TrustAnchors
    private let shelf: CertificateShelf
    private let builder: ChainBuilder
    /// For signature version 2.
    private let oldBuilder: ChainBuilder
    private let cache = ChainCache<[CertificateChain]> { _ in true }

    init(
        anchors: TrustAnchors,
        shelf: CertificateShelf,
        sighted: @escaping @Sendable ([CertificateSighting]) -> Void
    ) {
        self.anchors = anchors
        self.shelf = shelf
        builder = ChainBuilder(anchors: anchors, profile: .receipt, sighted: sighted)
        oldBuilder = ChainBuilder(anchors: anchors, profile: .oldReceipt, sighted: sighted)
    }

    func verify(
        _ receipt: PlistReceipt,
        _ expecting: Expectation,
        _ report: inout Report,
        _ trace: inout Trace
    ) throws(Refusal) -> Provenance? {
        if expecting.refusesEarly, let bundleID = receipt.purchase.bundleID {
            report.claims.bundleID = bundleID
            try trace.check(.triage) { () throws(Refusal) in try IdentityRules.checkBundle(bundleID, expecting) }
        }
        let leaf = try trace.check(.envelope) { () throws(Refusal) in try shelf.certificate(receipt.certificate[...]) }
        // Before the chain: what its own certificate did not sign is forged, whoever issued that certificate.
        try trace.check(.signature) { () throws(Refusal) in try checkSignature(of: receipt, by: leaf) }
        report.claims = try trace.check(.content) { () throws(Refusal) in try PlistTranslation.claims(of: receipt) }
        report.certificates = [CertificateFacts(leaf)]
        guard let signedAt = report.claims.signedAt else { throw Refusal(.signingDate, "no purchase date") }
        // Before the chain, for what comes after it is not reached while the issuer is unknown: a purchase of something
        // else than was paid for must not wait to be counted.
        if expecting.refusesEarly {
            let claims = report.claims
            try trace.check(.triage) { () throws(Refusal) in try IdentityRules.checkProducts(claims, expecting) }
        }
        let chains = try trace.check(.chain) { () throws(Refusal) in try self.chains(of: receipt, from: leaf) }
        let chain = try trace.check(.validity) { () throws(Refusal) in
            try Self.valid(chains, expecting.moment, purchasedAt: signedAt)
        }
        report.certificates = chain.certificates
        report.note(chain.voucher)
        try IdentityRules.check(report.claims, of: .transactionReceipt, expecting, &trace)
        if expecting.deviceID != nil { trace.skipped(.device, "an iOS 6 receipt has no device hash") }
        return Provenance(vouchedBy: chain.voucher, signedAt: signedAt)
    }

    /// The chain that counts. When the receipt was signed does not stand in it. It may be long after the purchase: a period that
    /// is restored keeps the date on which it was bought, and is signed by whoever signs by then.
    private static func valid(
        _ chains: [CertificateChain],
        _ moment: Timestamp?,
        purchasedAt: Timestamp
    ) throws(Refusal) -> CertificateChain {
        if let chain = moment.map({ chains.valid(at: $0) }) ?? chains.valid(atOrAfter: purchasedAt) { return chain }
        guard let chain = chains.first else { throw Refusal(.untrustedRoot) }
        throw chain.notValid(at: moment ?? max(purchasedAt, chain.validFrom))
    }

    /// What an unproved receipt says, for the operator.
    static func unprovedClaims(of receipt: PlistReceipt) -> Claims? {
        try? PlistTranslation.claims(of: receipt)
    }

    private func checkSignature(of receipt: PlistReceipt, by leaf: Certificate) throws(Refusal) {
        let digest: Digest = receipt.version >= 4 ? .sha256 : .sha1
        let isValid = leaf.publicKey.isValidRSA(
            signature: receipt.signature,
            message: receipt.signedBytes,
            digest: digest
        )
        guard isValid else { throw Refusal(.signature, "the certificate's key did not sign this purchase") }
    }

    private func chains(of receipt: PlistReceipt, from leaf: Certificate) throws(Refusal) -> [CertificateChain] {
        let builder = receipt.version >= 3 ? builder : oldBuilder
        let key = ChainKey.of([[receipt.version], receipt.certificate[...]])
        return try cache.answer(for: key[...]) { () throws(Refusal) in
            let named = anchors.intermediates.filter { $0.fields.subjectDER == leaf.fields.issuerDER }
            // An authority may have had several keys under one name. That we lack one is said of Apple's alone.
            let issuers = named.filter { $0.hasKey(namedBy: leaf) }
            if issuers.isEmpty, named.isEmpty || PlistReceiptVerifier.mayBeApples(leaf.fields.issuer) {
                throw try missing(leaf, builder)
            }
            return try builder.chains(from: leaf, through: issuers.isEmpty ? named : issuers)
        }
    }

    /// Apple has other authorities than those that are built in: without the one that issued this leaf nothing can be
    /// said. A leaf that names anybody else, or itself, or that Apple made for something else, is no such case.
    private func missing(_ leaf: Certificate, _ builder: ChainBuilder) throws(Refusal) -> Refusal {
        let issuer = leaf.fields.issuer
        guard !leaf.isSelfIssued else { return Refusal(.selfSigned, "\(issuer) vouches for itself") }
        guard PlistReceiptVerifier.mayBeApples(issuer) else {
            return Refusal(.untrustedRoot, "no known authority is called \(issuer)")
        }
        try builder.checkSigner(leaf)
        let key = leaf.fields.authorityKeyID.map { ", key \(Hexadecimal.encode($0))" } ?? ""
        return Refusal(.intermediateMissing, "missing: the certificate of \(issuer)\(key)")
    }

    private static func mayBeApples(_ issuer: String) -> Bool {
        let names = issuer.utf8.split(separator: UInt8(ascii: ",")).map { Array($0) }
        return names.contains(organization) && issuers.contains { names.contains($0) }
    }

    private static let organization = Array("O=Apple Inc.".utf8)
    /// The names under which Apple has issued receipt signers.
    private static let issuers = [
        Array("CN=Apple iTunes Store Certification Authority".utf8),
        Array("CN=Apple Worldwide Developer Relations Certification Authority".utf8),
    ]
}

extension Certificate {
    /// Whether the key that the other one says to be signed by is this one's; true as well where either names none.
    fileprivate func hasKey(namedBy other: Certificate) -> Bool {
        guard let own = fields.subjectKeyID, let named = other.fields.authorityKeyID else { return true }
        return own == named
    }
}
