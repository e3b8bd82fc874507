package import PurchaseModel
package import Storage

/// What rows of an export are. Stable words.
package enum ExportKind: String, Hashable, Sendable, CaseIterable {
    case transaction
    /// What proves more of a transaction than the proof in its row does.
    case evidence
    case fulfilment
    case order
    case subscription
    case balance
    case grantedEntitlement = "granted_entitlement"
    case event

    /// The members of a row that are columns of a table; a path goes on inside with a full stop. Somebody's program finds them
    /// by their place: a new one comes last.
    package var columns: [String] {
        switch self {
        case .transaction:
            [
                "kind", "environment", "test_signed", "transaction_id", "original_transaction_id", "product_id", "type",
                "quantity", "purchase_date", "original_purchase_date", "expires_date", "revocation_date",
                "revocation_reason", "revocation_type", "revocation_percentage", "is_upgraded", "transaction_reason",
                "ownership", "app_account_token", "offer_type", "offer_identifier", "price_milliunits",
                "currency", "storefront", "subscription_group", "web_order_line_item_id", "app_transaction_id",
                "owner_id", "customer_id", "order_id", "signed_at", "recorded_at", "proof_sha256", "proof",
                "is_partly_revoked", "previous_original_transaction_id", "offer_discount_type", "offer_period",
                "advanced_commerce", "billing_plan", "commitment_ends_at",
            ] + ExportedFulfilment.columns
        case .evidence:
            [
                "kind", "environment", "test_signed", "transaction_id", "original_transaction_id", "owner_id",
                "proof_sha256", "proof",
            ] + ExportedFulfilment.columns
        case .fulfilment:
            [
                "kind", "environment", "test_signed", "transaction_id", "original_transaction_id", "delivery_id",
                "state",
                "reason", "customer_id", "product_id", "quantity", "order_id", "matched_by", "delivery", "fence",
                "imported", "reversed_percentage", "reversed_at", "goods", "decided_at",
            ]
        case .order:
            [
                "kind", "order_id", "customer_id", "product_id", "quantity", "app_account_token", "state", "placed_at",
                "expires_at", "changed_at", "payment.transaction_id", "payment.environment", "payment.matched_by",
                "refunded_percentage", "payment.test_signed",
            ]
        case .subscription:
            [
                "kind", "environment", "test_signed", "original_transaction_id", "product_id", "subscription_group",
                "state", "since", "transaction_id", "owner_id", "started_at", "period_started_at", "expires_at",
                "access_until", "price_milliunits", "currency", "will_auto_renew", "next_product_id", "grace_ends_at",
                "ending", "signed_at", "apple_status", "recent_start_at", "has_returned", "billing_plan",
                "commitment_ends_at", "ownership", "offer", "is_trial", "is_introductory", "app_account_token",
                "next_price_milliunits", "next_currency", "next_offer", "win_back_offers", "price_increase",
                "retries_until", "upgraded_to_product_id", "moved_to_original_transaction_id",
                "moved_from_original_transaction_id", "revocation", "is_behind",
                "next_billing_plan", "commitment_will_renew", "commitment_next_product_id",
                "commitment_next_billing_plan",
            ]
        case .balance: ["kind", "environment", "test_signed", "customer_id", "currency", "balance", "uncollected"]
        case .grantedEntitlement:
            [
                "kind", "environment", "test_signed", "customer_id", "entitlement", "until", "is_revoked", "changed_at",
                "changed_by", "reason", "version",
            ]
        case .event:
            ["kind", "environment", "test_signed", "cursor", "event_id", "type", "timestamp", "customer_id", "data"]
        }
    }
}

/// How an export went.
package struct ExportReport: Sendable {
    package var counts: [ExportKind: Int] = [:]
    /// What no version of ours writes: it is left out.
    package var unreadable: [String] = []
    /// The feed as far as the snapshot has it.
    package var end = EventCursor.start
    /// When the newest of its transactions was recorded: until then, at least, its ledger has delivered what was bought. A
    /// server may have stood still from then on. `nil` where no transactions were wanted.
    package var recordedUntil: Timestamp?
    /// False when whoever took the rows wanted no more.
    package var isWhole = false

    package var rows: Int { counts.values.reduce(0, +) }
}
