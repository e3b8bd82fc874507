import Pipeline
import Testing

/// The tables of an export. Programs find columns by their place: a new one may only be added at the end of a row here.
@Suite struct ExportColumnsTests {
    private static let rows: [(kind: ExportKind, columns: String)] = [
        (
            .transaction,
            """
            kind environment test_signed transaction_id original_transaction_id product_id type quantity \
            purchase_date original_purchase_date expires_date revocation_date revocation_reason revocation_type \
            revocation_percentage is_upgraded transaction_reason ownership app_account_token offer_type \
            offer_identifier price_milliunits currency storefront subscription_group web_order_line_item_id \
            app_transaction_id owner_id customer_id order_id signed_at recorded_at proof_sha256 proof \
            is_partly_revoked
            """
        ),
        (
            .evidence,
            """
            kind environment test_signed transaction_id original_transaction_id owner_id proof_sha256 proof
            """
        ),
        (
            .fulfilment,
            """
            kind environment test_signed transaction_id original_transaction_id delivery_id state reason \
            customer_id product_id quantity order_id matched_by delivery fence imported reversed_percentage \
            reversed_at goods decided_at
            """
        ),
        (
            .order,
            """
            kind order_id customer_id product_id quantity app_account_token state placed_at expires_at \
            changed_at payment.transaction_id payment.environment payment.matched_by refunded_percentage
            """
        ),
        (
            .subscription,
            """
            kind environment test_signed original_transaction_id product_id subscription_group state since \
            transaction_id owner_id started_at period_started_at expires_at access_until price_milliunits \
            currency will_auto_renew next_product_id grace_ends_at ending signed_at
            """
        ),
        (
            .balance,
            """
            kind environment test_signed customer_id currency balance uncollected
            """
        ),
        (
            .grantedEntitlement,
            """
            kind environment test_signed customer_id entitlement until is_revoked changed_at changed_by reason \
            version
            """
        ),
        (
            .event,
            """
            kind environment test_signed cursor event_id type timestamp customer_id data
            """
        ),
    ]

    @Test func everyColumnStaysInItsPlace() {
        #expect(Self.rows.map(\.kind) == ExportKind.allCases)
        for row in Self.rows { #expect(row.kind.columns.joined(separator: " ") == row.columns) }
    }
}
