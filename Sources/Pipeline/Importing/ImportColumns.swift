/// Under which names a table or an object has what an import needs. Of several names the first counts under which something
/// stands.
package struct ImportColumns: Hashable, Sendable {
    /// A receipt, a JWS or whatever else proves a purchase.
    package var proof: [String]
    /// Apple's number of a transaction, where there is no proof.
    package var transaction: [String]
    package var customer: [String]
    /// What a customer's name begins with that the other service has made up for a device: it is nobody's here, and what
    /// stands under it waits for whoever presents it. Nobody presents anything by that name.
    package var anonymous: String?
    /// Which store it was bought in, where somebody has said where that stands.
    package var store: [String]
    /// What a row is: of a source that has this, only transactions are purchases.
    package var kind: [String]
    package var reach: Reach

    /// What a row says whose it is.
    package enum Reach: Hashable, Sendable {
        /// All that its proof holds.
        case proof
        /// The transaction that it names, on the side of the wall that stands under these names.
        case transaction(environment: String, isTestSigned: String)
    }

    package init(
        proof: [String],
        transaction: [String],
        customer: [String],
        anonymous: String? = nil,
        store: [String] = [],
        kind: [String] = [],
        reach: Reach = .proof
    ) {
        self.proof = proof
        self.transaction = transaction
        self.customer = customer
        self.anonymous = anonymous
        self.store = store
        self.kind = kind
        self.reach = reach
    }

    /// Whether they are those of our own export, whose texts are shielded in a table.
    var isOurs: Bool {
        if case .transaction = reach { true } else { false }
    }

    /// The names that need no word.
    package static let usual = ImportColumns(
        proof: ["proof", "receipt", "receipt_data", "latest_receipt", "jws", "signed_transaction"],
        transaction: ["transaction_id", "original_transaction_id"],
        customer: ["customer_id", "customer", "user_id"]
    )

    /// Other services' exports, by the names of their columns.
    ///
    /// Source: RevenueCat, *Scheduled Data Exports*, transactions, versions 3 to 7, and *Identifying customers*, anonymous App
    /// User IDs; Adapty, *Amazon S3*, table structure.
    package static let presets: [String: ImportColumns] = [
        "revenuecat": ImportColumns(
            proof: [],
            transaction: ["store_transaction_id"],
            customer: ["rc_last_seen_app_user_id_alias", "rc_original_app_user_id"],
            anonymous: "$RCAnonymousID:",
            store: ["store"]
        ),
        // Our own export. Whose a purchase is counts more than who brought it; what else stands in its proof has a row of
        // its own.
        "assay": ImportColumns(
            proof: ["proof"],
            transaction: ["transaction_id"],
            customer: ["owner_id", "customer_id"],
            kind: ["kind"],
            reach: .transaction(environment: "environment", isTestSigned: "test_signed")
        ),
        // A `profile_id` is Adapty's own, of a device that may have told no user: to an app's server it is nobody.
        "adapty": ImportColumns(
            proof: [],
            transaction: ["transaction_id", "original_transaction_id"],
            customer: ["customer_user_id"],
            store: ["store"]
        ),
    ]

    /// Where the name of a store is looked for. Without a word about it, in a column that is called so: in such a one may stand
    /// something else, too, so that it counts only where it is another store's name.
    var storeNames: [String] { isStoreNamed ? store : ["store"] }

    var isStoreNamed: Bool { !store.isEmpty }

    /// What services call other stores, in lower case.
    ///
    /// Source: RevenueCat, *Scheduled Data Exports*, `store`; Adapty, *Amazon S3*, `store`.
    static let otherStores: Set<String> = [
        "play_store", "google_play", "google_play_store", "googleplay", "google", "android", "amazon",
        "amazon_appstore",
        "stripe", "rc_billing", "paddle", "roku", "promotional",
    ]
    /// How other stores' numbers begin. Those of Apple's transactions have nothing but digits.
    private static let otherNumbers = ["GPA.", "sub_", "pi_", "in_", "ch_"]

    /// Whether something is the number of a purchase from Google or Stripe.
    static func isOfOtherStore(_ number: [UInt8]) -> Bool { otherNumbers.contains { number.starts(with: $0.utf8) } }

    /// What services call Apple's stores, in lower case: `APP_STORE` is one of them.
    static let appleStores: Set<String> = ["app_store", "mac_app_store", "apple", "appstore"]

    /// The same with what somebody has said of some: `transaction_id=id,customer=account`.
    ///
    /// - Returns: `nil` for a word that is none of `proof`, `receipt`, `transaction_id`, `customer`, `store`, or no `=`.
    package func replacing(_ words: String) -> ImportColumns? {
        var columns = self
        for word in words.split(separator: ",") {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { return nil }
            switch parts[0] {
            case "proof", "receipt": columns.proof = [parts[1]]
            case "transaction_id": columns.transaction = [parts[1]]
            case "customer": columns.customer = [parts[1]]
            case "store": columns.store = [parts[1]]
            default: return nil
            }
        }
        return columns
    }

    /// For the name under which the progress is kept.
    package var words: [String] {
        var words = [proof, transaction, customer, store + kind].map { $0.joined(separator: ",") }
        if case .transaction(let environment, let isTestSigned) = reach {
            words.append("each its own \(environment),\(isTestSigned)")
        }
        if let anonymous { words.append("nobody \(anonymous)") }
        return words
    }

    /// Whether a customer's name is one that the other service has made up.
    func isAnonymous(_ customer: [UInt8]) -> Bool { anonymous.map { customer.starts(with: $0.utf8) } ?? false }

    /// Whether anything that could be imported has one of these names.
    package func hasSubject(in names: [String]) -> Bool {
        !Set(proof + transaction).isDisjoint(with: names)
    }
}
