import AppleFormats
import PurchaseModel

/// Proves the facts inside a notification. The outer signature does not make them true: each has its own, under the
/// same rules, and must be of the kind that belongs in its place, for the same app and environment, and vouched for by
/// the same authority.
struct NestedVerifier {
    let verifier: JWSVerifier

    func verify(
        _ inner: [InnerFact],
        by signer: JWSVerifier.Signer,
        _ expecting: Expectation,
        _ report: inout Report,
        _ trace: inout Trace
    ) throws(Refusal) {
        guard !inner.isEmpty else { return trace.skipped(.nested, "no signed facts inside") }
        for fact in inner {
            try trace.check(.nested) { () throws(Refusal) in
                let (facts, innerSigner) = try proved(fact.text, expecting)
                guard facts.format == fact.format else {
                    throw Refusal(
                        .nestedMismatch,
                        "\(facts.format.rawValue) in the place of \(fact.format.rawValue)"
                    )
                }
                guard innerSigner.isTrustedLike(signer) else {
                    throw Refusal(.nestedMismatch, "an inner fact is vouched for by somebody else")
                }
                try compare(facts.claims, with: report.claims)
                add(facts, to: &report.claims)
            }
        }
    }

    private func proved(
        _ text: String,
        _ expecting: Expectation
    ) throws(Refusal) -> (SignedFacts, JWSVerifier.Signer) {
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

    private func add(_ facts: SignedFacts, to claims: inout Claims) {
        let inner = facts.claims
        switch facts.format {
        case .jwsTransaction:
            claims.transactions.append(contentsOf: inner.transactions)
            claims.notice?.transaction = inner.transactions.first
            if case .refundRequest(let reason, _)? = claims.notice?.matter {
                claims.notice?.matter = .refundRequest(reason: reason, isAdvancedCommerce: inner.isAdvancedCommerce)
            }
        case .jwsRenewalInfo:
            claims.renewal = inner.renewal
            claims.notice?.renewal = inner.renewal
        case .jwsAppTransaction:
            claims.download = inner.download
            claims.notice?.matter = .download(appTransaction: inner.download?.appTransaction)
        default: break
        }
    }
}
