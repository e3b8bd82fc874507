import AppleFormats
import Crypto
import PurchaseModel

/// Proves app receipts: envelope, then chain, then signature, and only then what is in it.
///
/// Source: Apple, "Validating receipts on the device" and TN3138; the shape of genuine receipts as found in the field.
final class ReceiptVerifier: Sendable {
    private let builder: ChainBuilder
    private let anchors: TrustAnchors
    private let shelf: CertificateShelf
    private let cache = ChainCache<Signers> { $0.isVouchedFor }
    /// Apple's receipts carry three, Xcode's one.
    private static let certificatesMax = 4

    init(
        anchors: TrustAnchors,
        shelf: CertificateShelf,
        sighted: @escaping @Sendable ([CertificateSighting]) -> Void
    ) {
        self.anchors = anchors
        self.shelf = shelf
        builder = ChainBuilder(anchors: anchors, profile: .receipt, sighted: sighted)
    }

    /// Who may have signed: the chains of the signer's certificate, or Xcode's single certificate.
    private enum Signers: Sendable {
        case chains([CertificateChain])
        case xcode(Certificate, isTrusted: Bool)

        var key: PublicKey? {
            switch self {
            case .chains(let chains): chains.first?.leaf.publicKey
            case .xcode(let certificate, _): certificate.publicKey
            }
        }

        var isVouchedFor: Bool { if case .xcode(_, let isTrusted) = self { isTrusted } else { true } }
    }

    func verify(
        _ envelope: SignedData,
        _ expecting: Expectation,
        _ report: inout Report,
        _ trace: inout Trace
    ) throws(Refusal) -> Provenance? {
        if expecting.refusesEarly, let bundleID = try? AppReceipt.bundleID(in: envelope.content) {
            report.claims.bundleID = bundleID
            try trace.check(.triage) { () throws(Refusal) in try IdentityRules.checkBundle(bundleID, expecting) }
        }
        let signer = try trace.check(.envelope) { () throws(Refusal) in try soleSigner(of: envelope) }
        let signers = try trace.check(.chain) { () throws(Refusal) in try self.signers(of: envelope, signer) }
        try trace.check(.signature) { () throws(Refusal) in try checkSignature(of: envelope, signer, by: signers) }
        let receipt = try trace.check(.content) { () throws(Refusal) in
            let receipt = try ReceiptVerifier.content(of: envelope)
            report.claims = try ReceiptTranslation.claims(of: receipt)
            return receipt
        }
        guard let signedAt = report.claims.signedAt else { throw Refusal(.signingDate, "no creation date") }
        let provenance = try trace.check(.validity) { () throws(Refusal) in
            try vouch(signers, signedAt: signedAt, expecting, &report)
        }
        try IdentityRules.check(report.claims, of: .appReceipt, expecting, &trace)
        try checkDevice(receipt, expecting, &trace)
        if expecting.product != nil, report.claims.transactions.isEmpty, provenance != nil {
            throw Refusal(.noPurchases, "genuine, and no purchase stands in it")
        }
        return provenance
    }

    /// What an unproved receipt says, for the operator.
    static func unprovedClaims(of envelope: SignedData) -> Claims? {
        guard let receipt = try? AppReceipt(envelope.content) else { return nil }
        return try? ReceiptTranslation.claims(of: receipt)
    }

    /// The first transaction that an unproved receipt names.
    static func firstClaimed(in envelope: SignedData) -> TransactionID? {
        (try? AppReceipt.firstTransactionID(in: envelope.content)).flatMap(\.self).flatMap { TransactionID($0) }
    }

    private func soleSigner(of envelope: SignedData) throws(Refusal) -> SignerInfo {
        guard envelope.signers.count == 1, let signer = envelope.signers.first else {
            throw Refusal(.signerCount, "\(envelope.signers.count) signers instead of one")
        }
        guard envelope.contentType == .data else {
            throw Refusal(.cmsForm, "the content's type is \(envelope.contentType)")
        }
        guard !envelope.certificates.isEmpty else { throw Refusal(.signerMissing, "no certificates") }
        return signer
    }

    private func signers(of envelope: SignedData, _ signer: SignerInfo) throws(Refusal) -> Signers {
        guard case .issuerAndSerial(let issuer, let serial) = signer.identity else {
            throw Refusal(.signerMissing, "the signer is not named by issuer and serial")
        }
        guard envelope.certificates.count <= ReceiptVerifier.certificatesMax else {
            throw Refusal(.chainLength, "\(envelope.certificates.count) certificates")
        }
        // All the bytes that this is decided from: nothing may be remembered under a part of them.
        let parts = [envelope.certificateBlock ?? [], issuer, serial]
        return try cache.answer(for: parts) { () throws(Refusal) in
            try findSigners(envelope, issuer: Array(issuer), serial: Array(serial))
        }
    }

    private func findSigners(
        _ envelope: SignedData,
        issuer: [UInt8],
        serial: [UInt8]
    ) throws(Refusal) -> Signers {
        var certificates: [Certificate] = []
        for der in envelope.certificates { certificates.append(try shelf.certificate(der)) }
        let leaf = certificates.first { $0.fields.issuerDER == issuer && $0.fields.serial == serial }
        guard let leaf else { throw Refusal(.signerMissing, "none of the certificates is the signer's") }
        if leaf.isSelfIssued {
            return .xcode(
                try XcodeCertificate.checked(leaf, among: certificates),
                isTrusted: anchors.isTrustedXcode(leaf)
            )
        }
        let carried = certificates.filter { $0.der != leaf.der }
        let known = anchors.intermediates.filter { known in !carried.contains { $0.der == known.der } }
        return .chains(try builder.chains(from: leaf, through: carried + known))
    }

    private func checkSignature(
        of envelope: SignedData,
        _ signer: SignerInfo,
        by signers: Signers
    ) throws(Refusal) {
        // Apple signs the content itself. Attributes would make the signature cover something else than what is read.
        guard signer.signedAttributes == nil else {
            throw Refusal(.signedAttributes, "the signature covers attributes, not the content")
        }
        let digest: Digest
        switch (signer.digestAlgorithm, signer.signatureAlgorithm) {
        case (.sha1, .rsaEncryption), (.sha1, .sha1WithRSA): digest = .sha1
        case (.sha256, .rsaEncryption), (.sha256, .sha256WithRSA): digest = .sha256
        default:
            throw Refusal(.algorithmNotAllowed, "\(signer.digestAlgorithm) with \(signer.signatureAlgorithm)")
        }
        let (signature, content) = (signer.signature, envelope.content)
        guard let key = signers.key, key.isValidRSA(signature: signature.span, message: content.span, digest: digest)
        else { throw Refusal(.signature, "the signer's key did not sign this content") }
    }

    private static func content(of envelope: SignedData) throws(Refusal) -> AppReceipt {
        do throws(FormatFault) {
            return try AppReceipt(envelope.content)
        } catch {
            throw Refusal(.receiptPayload, error.sentence)
        }
    }

    /// Who vouches at the moment of signing: any of the chains will do, and Apple's before an added root's.
    private func vouch(
        _ signers: Signers,
        signedAt: Timestamp,
        _ expecting: Expectation,
        _ report: inout Report
    ) throws(Refusal) -> Provenance? {
        switch signers {
        case .xcode(let certificate, let isTrusted):
            report.certificates = [CertificateFacts(certificate)]
            try XcodeCertificate.check(report.claims.environment)
            report.note(.xcode)
            return isTrusted ? Provenance(vouchedBy: .xcode, signedAt: signedAt) : nil
        case .chains(let chains):
            let moment = expecting.moment ?? signedAt
            let valid = chains.valid(at: moment)
            guard let shown = valid ?? chains.first else { throw Refusal(.untrustedRoot) }
            if !expecting.refusesEarly { report.certificates = shown.certificates }
            guard let valid else { throw shown.notValid(at: moment) }
            report.note(valid.voucher)
            return Provenance(vouchedBy: valid.voucher, signedAt: signedAt)
        }
    }

    /// Source: Apple, "Validating receipts on the device": SHA-1 over identifier, opaque value and the bundle id's raw bytes.
    private func checkDevice(
        _ receipt: AppReceipt,
        _ expecting: Expectation,
        _ trace: inout Trace
    ) throws(Refusal) {
        guard let deviceID = expecting.deviceID else { return trace.skipped(.device, "no device id was given") }
        try trace.check(.device) { () throws(Refusal) in
            let hash = Digest.sha1(deviceID + receipt.opaqueValue + receipt.bundleIDOctets)
            guard hash.elementsEqual(receipt.deviceHash) else {
                throw Refusal(.foreignDevice, "the receipt was made for another device")
            }
        }
    }
}
