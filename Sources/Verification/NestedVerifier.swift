import AppleFormats
import PurchaseModel

/// Proves the facts inside a notification. The outer signature does not make them true: each has its own, under the
/// same rules, and must be of the kind that belongs in its place, for the same app and environment, and vouched for by
/// the same authority.
struct NestedVerifier {
    let verifier: JWSVerifier

    func verify(
        _ notification: NotificationPayload,
        by signer: JWSVerifier.Signer,
        _ expecting: Expectation,
        _ report: inout Report,
        _ trace: inout Trace
    ) throws(Refusal) {
        let places: [(text: String?, format: ProofFormat)] = [
            (notification.data?.signedTransactionInfo, .jwsTransaction),
            (notification.data?.signedRenewalInfo, .jwsRenewalInfo),
            (notification.appData?.signedAppTransactionInfo, .jwsAppTransaction),
        ]
        var isEmpty = true
        for (text, format) in places {
            guard let text else { continue }
            isEmpty = false
            try trace.check(.nested) { () throws(Refusal) in
                let (payload, claims, innerSigner) = try proved(text, expecting)
                guard payload.format == format else {
                    throw Refusal(.nestedMismatch, "\(payload.format.rawValue) in the place of \(format.rawValue)")
                }
                guard innerSigner.isTrustedLike(signer) else {
                    throw Refusal(.nestedMismatch, "an inner fact is vouched for by somebody else")
                }
                try compare(claims, with: report.claims)
                add(payload, claims, to: &report.claims)
            }
        }
        if isEmpty { trace.skipped(.nested, "no signed facts inside") }
    }

    private func proved(
        _ text: String,
        _ expecting: Expectation
    ) throws(Refusal) -> (SignedPayload, Claims, JWSVerifier.Signer) {
        let token: CompactJWS
        do throws(FormatFault) {
            token = try CompactJWS(Array(text.utf8))
        } catch {
            throw Refusal(.jwsForm, error.sentence)
        }
        return try verifier.verifyNested(token, moment: expecting.moment)
    }

    private func compare(_ inner: Claims, with outer: Claims) throws(Refusal) {
        if let found = inner.bundleID, !IdentityRules.areEqual(found, outer.bundleID) {
            throw mismatch("bundle_id", found, outer.bundleID, "an inner fact is for another app")
        }
        if let found = inner.appleID, let expected = outer.appleID, found != expected {
            throw mismatch("apple_id", "\(found)", "\(expected)", "an inner fact is for another app")
        }
        if let found = inner.environment, found != outer.environment {
            throw mismatch(
                "environment",
                found.rawValue,
                outer.environment?.rawValue,
                "an inner fact is from another store"
            )
        }
    }

    private func mismatch(_ field: String, _ found: String, _ expected: String?, _ detail: String) -> Refusal {
        Refusal(
            .nestedMismatch,
            detail,
            difference: Difference(field: field, expected: expected ?? "none", found: found)
        )
    }

    private func add(_ payload: SignedPayload, _ inner: Claims, to claims: inout Claims) {
        switch payload {
        case .transaction:
            claims.transactions.append(contentsOf: inner.transactions)
            claims.notice?.transaction = inner.transactions.first
        case .renewalInfo:
            claims.renewal = inner.renewal
            claims.notice?.renewal = inner.renewal
        case .appTransaction: claims.download = inner.download
        case .notification: break
        }
    }
}
