import Encoding
import PurchaseModel

/// Compares what a proof says with what was expected of it. The same rules for every format, so that no path lacks a
/// check that another has.
enum IdentityRules {
    /// All comparisons, in their order; each is noted, also the ones for which nothing was expected.
    ///
    /// What differs counts before what is missing: for another product nobody needs to ask Apple about the store.
    static func check(
        _ claims: Claims,
        of format: ProofFormat,
        _ expecting: Expectation,
        _ trace: inout Trace
    ) throws(Refusal) {
        if expecting.bundleID == nil {
            trace.skipped(.bundleID, "no bundle id was given: the app is not checked")
        } else if format == .jwsRenewalInfo {
            trace.skipped(.bundleID, "renewal info names no app")
        } else {
            try trace.check(.bundleID) { () throws(Refusal) in try checkBundle(claims.bundleID, expecting) }
        }
        if expecting.appleID == nil {
            trace.skipped(.appleID, "no App Store number was given")
        } else if claims.environment == .production, claims.appleID != nil {
            try trace.check(.appleID) { () throws(Refusal) in try checkAppleID(claims.appleID, expecting) }
        } else {
            trace.skipped(.appleID, "only some proofs from Production sign it; this one does not")
        }
        if expecting.environments == nil {
            trace.skipped(.environment, "no environment was given: any is taken")
        } else if claims.environment != nil {
            try trace.check(.environment) { () throws(Refusal) in try checkEnvironment(claims, expecting) }
        }
        if expecting.products == nil, expecting.product == nil {
            trace.skipped(.product, "no product was given")
        } else if claims.transactions.isEmpty {
            trace.skipped(.product, "no purchase stands in it")
        } else {
            try trace.check(.product) { () throws(Refusal) in try checkProducts(claims, expecting) }
        }
        if expecting.environments != nil, claims.environment == nil {
            try trace.check(.environment) { () throws(Refusal) in try checkEnvironment(claims, expecting) }
        }
    }

    static func checkBundle(_ found: String?, _ expecting: Expectation) throws(Refusal) {
        guard let expected = expecting.bundleID?.text, !areEqual(expected, found) else { return }
        throw Refusal(
            .foreignBundleID,
            "signed for another app",
            difference: Difference(field: "bundle_id", expected: expected, found: found ?? "none")
        )
    }

    /// Byte by byte: for `==` on strings a Kelvin sign is a K.
    static func areEqual(_ one: String, _ other: String?) -> Bool {
        guard let other else { return false }
        return ByteSearch.areEqual(one.utf8.span, other.utf8.span)
    }

    private static func checkAppleID(_ found: Int64?, _ expecting: Expectation) throws(Refusal) {
        guard let expected = expecting.appleID, found != expected else { return }
        throw Refusal(
            .foreignAppleID,
            "signed for another app",
            difference: Difference(
                field: "apple_id",
                expected: "\(expected)",
                found: found.map { String($0) } ?? "none"
            )
        )
    }

    static func checkEnvironment(_ claims: Claims, _ expecting: Expectation) throws(Refusal) {
        guard let accepted = expecting.environments else { return }
        guard let found = claims.environment else {
            throw Refusal(.environmentUnknown, "the proof does not say which store it is from")
        }
        // They are one or two: to compare them costs a tenth of hashing what was found.
        guard !accepted.contains(where: { $0 == found }) else { return }
        let expected = accepted.map(\.rawValue).sorted().joined(separator: ", ")
        throw Refusal(
            .environmentNotAccepted,
            "the app does not accept purchases from there",
            difference: Difference(field: "environment", expected: expected, found: found.rawValue)
        )
    }

    /// Nothing is compared where no purchase stands.
    static func checkProducts(_ claims: Claims, _ expecting: Expectation) throws(Refusal) {
        let transactions = claims.transactions
        guard !transactions.isEmpty else { return }
        if let products = expecting.products, !transactions.contains(where: { products.contains($0.product) }) {
            throw productRefusal(.unknownProduct, "none of the products is in the catalogue", "one of it", transactions)
        }
        if let product = expecting.product, !transactions.contains(where: { $0.product == product }) {
            throw productRefusal(.otherProduct, "the proof is for other products", product.text, transactions)
        }
    }

    private static func productRefusal(
        _ reason: Reason,
        _ detail: String,
        _ expected: String,
        _ transactions: [Transaction]
    ) -> Refusal {
        let found = transactions.prefix(8).map(\.product.text).joined(separator: ", ")
        return Refusal(
            reason,
            detail,
            difference: Difference(field: "product_id", expected: expected, found: found)
        )
    }
}
