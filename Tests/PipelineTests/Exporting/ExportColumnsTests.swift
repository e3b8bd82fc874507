import Encoding
import Pipeline
import PurchaseModel
import Storage
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
            is_partly_revoked previous_original_transaction_id offer_discount_type offer_period advanced_commerce \
            billing_plan commitment_ends_at fulfilment.state fulfilment.reason fulfilment.fence fulfilment.imported \
            fulfilment.of_history fulfilment.books_until
            """
        ),
        (
            .evidence,
            """
            kind environment test_signed transaction_id original_transaction_id owner_id proof_sha256 proof \
            fulfilment.state fulfilment.reason fulfilment.fence fulfilment.imported \
            fulfilment.of_history fulfilment.books_until
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
            changed_at payment.transaction_id payment.environment payment.matched_by refunded_percentage \
            payment.test_signed
            """
        ),
        (
            .subscription,
            """
            kind environment test_signed original_transaction_id product_id subscription_group state since \
            transaction_id owner_id started_at period_started_at expires_at access_until price_milliunits \
            currency will_auto_renew next_product_id grace_ends_at ending signed_at apple_status recent_start_at \
            has_returned billing_plan commitment_ends_at ownership offer is_trial is_introductory \
            app_account_token next_price_milliunits next_currency next_offer win_back_offers price_increase \
            retries_until upgraded_to_product_id moved_to_original_transaction_id \
            moved_from_original_transaction_id revocation is_behind next_billing_plan commitment_will_renew \
            commitment_next_product_id commitment_next_billing_plan
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

    @Test(arguments: ExportKind.allCases) func everyMemberOfARowHasItsColumn(kind: ExportKind) async throws {
        let rows = Noted<[UInt8]>()
        _ = try await FilledBooks().store().read { reader throws(StoreFailure) in
            let (app, now) = (FilledBooks.app, FilledBooks.now)
            return try LedgerExport.run(app: app, kinds: [kind], includesProofs: true, over: reader, at: now) {
                rows.note($1)
                return true
            }
        }
        let columns = kind.columns
        #expect(Set(columns).count == columns.count && !rows.values.isEmpty)
        var members: Set<String> = []
        for row in rows.values {
            members.formUnion(Self.members(of: try #require(try JSONDocument(row).root.object), "", columns))
        }
        #expect(members.subtracting(columns).sorted() == [], "a member without a column")
        #expect(Set(columns).subtracting(members).sorted() == [], "nothing above fills these columns")
    }

    /// The paths of an object's members: inside of one that has no column of its own they go on.
    private static func members(of object: JSONObject, _ path: String, _ columns: [String]) -> [String] {
        object.members.flatMap { name, value -> [String] in
            guard let inner = value.object, !columns.contains(path + name) else { return [path + name] }
            return members(of: inner, path + name + ".", columns)
        }
    }

    /// What has a new field has to be filled above, so that the row has the field's member.
    @Test func everyFieldOfTheRowsIsFilled() throws {
        let books = try FilledBooks()
        #expect(Self.empty(in: [books.transaction.transaction]) == [])
        #expect(Self.empty(in: [books.order]) == [])
        #expect(Self.empty(in: [books.fulfilment]) == [])
        let standing = books.standing
        #expect(standing.count == books.subscriptions.count)
        #expect(Self.empty(in: standing) == [])
    }

    /// The fields that none of the values has anything in.
    private static func empty(in values: [some Any]) -> [String] {
        let fields = values.map { value in
            Mirror(reflecting: value).children.compactMap { child in child.label.map { ($0, isEmpty(child.value)) } }
        }
        let filled = Set(fields.joined().filter { !$0.1 }.map(\.0))
        return Set(fields.joined().map(\.0)).subtracting(filled).sorted()
    }

    private static func isEmpty(_ value: Any) -> Bool {
        if let flag = value as? Bool { return !flag }
        let mirror = Mirror(reflecting: value)
        return [.optional, .collection].contains(mirror.displayStyle) && mirror.children.isEmpty
    }
}
