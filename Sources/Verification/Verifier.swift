import AppleFormats
import PurchaseModel

/// The front door: bytes in; a report for people, and facts for the ledger only if they were proved.
///
/// The same checks run for every caller, in the order that safety wants: form, chain, signature, content, dates, and
/// only then whether it is for us. No field of a message, and no option, decides whether a check runs.
package struct Verifier: Sendable {
    private let receipts: ReceiptVerifier
    private let oldReceipts: PlistReceiptVerifier
    private let signatures: JWSVerifier
    private let bytesMax: Int

    /// - Parameters:
    ///   - anchors: whom to believe.
    ///   - bytesMax: the longest submission that is looked at, in bytes; by default as long as the longest body that a server
    ///     may be told to take, for what was kept under another limit is examined, too.
    ///   - sighted: told of each chain that holds, dates aside, when it is judged; hardly ever, for judgements are kept.
    package init(
        anchors: TrustAnchors,
        bytesMax: Int = 16 * 1_024 * 1_024,
        sighted: @escaping @Sendable ([CertificateSighting]) -> Void = { _ in }
    ) {
        let shelf = CertificateShelf(anchors)
        receipts = ReceiptVerifier(anchors: anchors, shelf: shelf, sighted: sighted)
        oldReceipts = PlistReceiptVerifier(anchors: anchors, shelf: shelf, sighted: sighted)
        signatures = JWSVerifier(anchors: anchors, shelf: shelf, sighted: sighted)
        self.bytesMax = bytesMax
    }

    /// Examines one submission in any format and wrapping.
    package func examine(_ bytes: [UInt8], expecting: Expectation) -> Examination {
        var report = Report()
        var trace = Trace()
        var triage = Triage()
        var evidence: Evidence?
        var provenance: Provenance?
        do throws(Refusal) {
            guard bytes.count <= bytesMax else {
                throw Refusal(.tooLarge, "\(bytes.count) bytes; \(bytesMax) are read")
            }
            let opened = try triage.open(bytes)
            evidence = opened
            report.format = triage.format
            noteUnwrapping(triage, &trace)
            provenance = try verify(opened, expecting, &report, &trace)
        } catch {
            if evidence == nil {
                report.format = triage.format
                noteUnwrapping(triage, &trace)
                trace.failed(.format, error)
            }
            report.reason = error.reason
            report.detail = error.detail
            report.difference = error.difference
            // Who only wants an answer is not made to pay for explaining a forgery.
            if !expecting.refusesEarly { describeUnproved(evidence, &report) }
            if report.claims.transactions.isEmpty { report.glanced = glance(at: evidence) }
        }
        report.checks = trace.checks
        let proof = provenance.map { provenance in
            Verified(Proof(format: report.format, claims: report.claims, bytes: bytes), provenance: provenance)
        }
        return Examination(report: report, proof: proof)
    }

    /// - Returns: who vouches; `nil` for a test signature that the operator has not trusted.
    private func verify(
        _ evidence: Evidence,
        _ expecting: Expectation,
        _ report: inout Report,
        _ trace: inout Trace
    ) throws(Refusal) -> Provenance? {
        switch evidence {
        case .appReceipt(let envelope):
            return try receipts.verify(envelope, expecting, &report, &trace)
        case .transactionReceipt(let receipt):
            return try oldReceipts.verify(receipt, expecting, &report, &trace)
        case .jws(let token):
            return try signatures.verify(token, expecting, &report, &trace)
        case .verifyReceiptResponse(let answer):
            report.claims = try AnswerTranslation.claims(of: answer)
            throw Refusal(.unsignedAnswer, "verifyReceipt's answers are not signed: send the receipt itself")
        case .notificationV1(let notification):
            report.claims = AnswerTranslation.claims(of: notification)
            throw Refusal(.unsignedNotification, "version 1 notifications are not signed")
        case .transactionID:
            throw Refusal(.onlyAnID, "a number proves nothing until Apple is asked")
        }
    }

    private func noteUnwrapping(_ triage: Triage, _ trace: inout Trace) {
        guard !triage.unwrapping.layers.isEmpty else { return }
        trace.passed(.unwrapping, triage.unwrapping.layers.map(\.rawValue).joined(separator: ", "))
    }

    /// A transaction that a refused proof names, as far as that takes next to no work: by it the forgery is found.
    private func glance(at evidence: Evidence?) -> TransactionID? {
        switch evidence {
        case .appReceipt(let envelope): ReceiptVerifier.firstClaimed(in: envelope)
        case .transactionReceipt(let receipt): PlistReceiptVerifier.unprovedClaims(of: receipt)?.transactions.first?.id
        // What a JWS claims is read before it is refused; the others are not signed.
        case .jws, .verifyReceiptResponse, .notificationV1, .transactionID, nil: nil
        }
    }

    /// Fills in what a refused proof says and which certificates it came with, as far as they can be read.
    private func describeUnproved(_ evidence: Evidence?, _ report: inout Report) {
        guard let evidence else { return }
        if report.claims == Claims(), let claims = unprovedClaims(evidence, &report) { report.claims = claims }
        guard report.certificates.isEmpty else { return }
        report.certificates = certificates(evidence)
    }

    private func unprovedClaims(_ evidence: Evidence, _ report: inout Report) -> Claims? {
        switch evidence {
        case .appReceipt(let envelope): return ReceiptVerifier.unprovedClaims(of: envelope)
        case .transactionReceipt(let receipt): return PlistReceiptVerifier.unprovedClaims(of: receipt)
        case .jws(let token):
            guard let (format, claims) = JWSVerifier.unprovedClaims(of: token) else { return nil }
            report.format = format
            return claims
        case .verifyReceiptResponse, .notificationV1, .transactionID: return nil
        }
    }

    private func certificates(_ evidence: Evidence) -> [CertificateFacts] {
        switch evidence {
        case .appReceipt(let envelope): CertificateFacts.readable(envelope.certificates.map(Array.init))
        case .transactionReceipt(let receipt): CertificateFacts.readable([Array(receipt.certificate)])
        case .jws(let token): CertificateFacts.readable(JWSVerifier.certificates(of: token))
        case .verifyReceiptResponse, .notificationV1, .transactionID: []
        }
    }
}

/// What came of an examination.
package struct Examination: Sendable {
    package let report: Report
    /// What may be acted upon: `nil` unless it was proved, for the app and environment that were expected.
    package let proof: Verified<Proof>?
}
