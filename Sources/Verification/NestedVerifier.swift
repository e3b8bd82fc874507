import AppleFormats
import PurchaseModel

/// Proves the facts inside a notification. The outer signature does not make them true: each has its own, under the
/// same rules, and must be for the same app and environment and vouched for by the same authority.
struct NestedVerifier {
    let verifier: JWSVerifier

    func verify(
        _ inner: [String], by voucher: Voucher, _ expecting: Expectation, _ report: inout Report, _ trace: inout Trace
    ) throws(Refusal) {
        guard !inner.isEmpty else { return trace.skipped(.nested, "no signed facts inside") }
        for text in inner {
            try trace.check(.nested) { () throws(Refusal) in
                let (facts, innerVoucher) = try proved(text, expecting)
                guard innerVoucher == voucher else {
                    throw Refusal(.nestedMismatch, "an inner fact is vouched for by somebody else")
                }
                try compare(facts.claims, with: report.claims)
                add(facts, to: &report.claims)
            }
        }
    }

    private func proved(_ text: String, _ expecting: Expectation) throws(Refusal) -> (SignedFacts, Voucher) {
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
                .nestedMismatch, "an inner fact is for another app",
                difference: Difference(field: "bundle_id", expected: outer.bundleID ?? "none", found: found))
        }
        if let found = inner.environment, found != outer.environment {
            throw Refusal(
                .nestedMismatch, "an inner fact is from another store",
                difference: Difference(
                    field: "environment", expected: outer.environment?.rawValue ?? "none", found: found.rawValue))
        }
    }

    private func add(_ facts: SignedFacts, to claims: inout Claims) {
        let inner = facts.claims
        switch facts.format {
        case .jwsTransaction:
            claims.transactions.append(contentsOf: inner.transactions)
            claims.notice?.transaction = inner.transactions.first
        case .jwsRenewalInfo:
            claims.renewal = inner.renewal
            claims.notice?.renewal = inner.renewal
        case .jwsAppTransaction: claims.download = inner.download
        default: break
        }
    }
}
