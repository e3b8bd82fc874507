import AppleFormats
import PurchaseModel

/// Proves the facts inside a notification. The outer signature does not make them true: each has its own, under the
/// same rules, and must be for the same app and environment and vouched for by the same authority.
struct NestedVerifier {
    let verifier: JWSVerifier

    func verify(
        _ notification: NotificationPayload,
        by voucher: Voucher,
        _ expecting: Expectation,
        _ report: inout Report,
        _ trace: inout Trace
    ) throws(Refusal) {
        let inner = [
            notification.data?.signedTransactionInfo, notification.data?.signedRenewalInfo,
            notification.appData?.signedAppTransactionInfo,
        ].compactMap { $0 }
        guard !inner.isEmpty else { return trace.skipped(.nested, "no signed facts inside") }
        for text in inner {
            try trace.check(.nested) { () throws(Refusal) in
                let (payload, claims, innerVoucher) = try proved(text, expecting)
                guard innerVoucher == voucher else {
                    throw Refusal(.nestedMismatch, "an inner fact is vouched for by somebody else")
                }
                try compare(claims, with: report.claims)
                add(payload, claims, to: &report.claims)
            }
        }
    }

    private func proved(
        _ text: String,
        _ expecting: Expectation
    ) throws(Refusal) -> (SignedPayload, Claims, Voucher) {
        let token: CompactJWS
        do throws(FormatFault) {
            token = try CompactJWS(Array(text.utf8))
        } catch {
            throw Refusal(.jwsForm, error.sentence)
        }
        return try verifier.verifyNested(token, moment: expecting.moment)
    }

    private func compare(_ inner: Claims, with outer: Claims) throws(Refusal) {
        if let found = inner.bundleID, found != outer.bundleID {
            throw Refusal(
                .nestedMismatch,
                "an inner fact is for another app",
                difference: Difference(field: "bundle_id", expected: outer.bundleID ?? "none", found: found)
            )
        }
        if let found = inner.environment, found != outer.environment {
            throw Refusal(
                .nestedMismatch,
                "an inner fact is from another store",
                difference: Difference(
                    field: "environment",
                    expected: outer.environment?.rawValue ?? "none",
                    found: found.rawValue
                )
            )
        }
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
