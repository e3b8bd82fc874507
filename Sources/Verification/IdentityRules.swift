import PurchaseModel

/// Compares what a proof says with what was expected of it. The same rules for every format, so that no path lacks a
/// check that another has.
enum IdentityRules {
    /// All comparisons, in their order; each is noted, also the ones for which nothing was expected.
    static func check(_ claims: Claims, _ expecting: Expectation, _ trace: inout Trace) throws(Refusal) {
        if expecting.bundleID == nil {
            trace.skipped(.bundleID, "no bundle id was given: the app is not checked")
        } else if claims.bundleID == nil, claims.renewal != nil {
            trace.skipped(.bundleID, "renewal info names no app")
        } else {
            try trace.check(.bundleID) { () throws(Refusal) in try checkBundle(claims.bundleID, expecting) }
        }
        if expecting.appleID != nil, claims.environment == .production, claims.appleID != nil {
            try trace.check(.appleID) { () throws(Refusal) in try checkAppleID(claims.appleID, expecting) }
        }
        if expecting.environments == nil {
            trace.skipped(.environment, "no environment was given: any is taken")
        } else {
            try trace.check(.environment) { () throws(Refusal) in try checkEnvironment(claims, expecting) }
        }
        try checkProducts(claims, expecting, &trace)
    }

    static func checkBundle(_ found: String?, _ expecting: Expectation) throws(Refusal) {
        guard let expected = expecting.bundleID?.text, found != expected else { return }
        throw Refusal(
            .foreignBundleID,
            "signed for another app",
            difference: Difference(field: "bundle_id", expected: expected, found: found ?? "none")
        )
    }

    private static func checkAppleID(_ found: Int64?, _ expecting: Expectation) throws(Refusal) {
        guard let expected = expecting.appleID, found != expected else { return }
        throw Refusal(
            .foreignAppleID,
            "signed for another app",
            difference: Difference(field: "apple_id", expected: "\(expected)", found: found.map(String.init) ?? "none")
        )
    }

    static func checkEnvironment(_ claims: Claims, _ expecting: Expectation) throws(Refusal) {
        guard let accepted = expecting.environments else { return }
        guard let found = claims.environment else {
            throw Refusal(.environmentUnknown, "the proof does not say which store it is from")
        }
        guard !accepted.contains(found) else { return }
        let expected = accepted.map(\.rawValue).sorted().joined(separator: ", ")
        throw Refusal(
            .environmentNotAccepted,
            "the app does not accept purchases from there",
            difference: Difference(field: "environment", expected: expected, found: found.rawValue)
        )
    }

    static func checkProducts(
        _ claims: Claims,
        _ expecting: Expectation,
        _ trace: inout Trace
    ) throws(Refusal) {
        let transactions = claims.transactions
        guard !transactions.isEmpty, expecting.products != nil || expecting.product != nil else { return }
        try trace.check(.product) { () throws(Refusal) in
            let found = transactions.prefix(8).map(\.product.text).joined(separator: ", ")
            if let products = expecting.products, !transactions.contains(where: { products.contains($0.product) }) {
                throw Refusal(
                    .unknownProduct,
                    "none of the products is in the catalogue",
                    difference: Difference(field: "product_id", expected: "one of the catalogue", found: found)
                )
            }
            if let product = expecting.product, !transactions.contains(where: { $0.product == product }) {
                throw Refusal(
                    .otherProduct,
                    "the proof is for other products",
                    difference: Difference(field: "product_id", expected: product.text, found: found)
                )
            }
        }
    }
}
