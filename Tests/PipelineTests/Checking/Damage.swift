import Pipeline

/// What another hand does to the ledger of ``CheckedShop/live()``, and what the check must say of it.
struct Damage: Sendable, CustomStringConvertible {
    let code: ViolationCode
    /// A name that one of the violations must have, with its value.
    let names: String
    let onPostgreSQL: [String]
    /// `nil` where SQLite itself cannot be made to take it.
    let onSQLite: [String]?

    var description: String { "\(code.rawValue) \(names)" }

    private init(_ code: ViolationCode, _ names: String, _ statements: String...) {
        self.code = code
        self.names = names
        onPostgreSQL = statements
        onSQLite = statements
    }

    private init(_ code: ViolationCode, _ names: String, onlyPostgreSQL statements: String...) {
        self.code = code
        self.names = names
        onPostgreSQL = statements
        onSQLite = nil
    }

    private static let columns = """
        version, product, quantity, purchased_at, account_token, customer, state, reason, order_id, match, goods, \
        reversed, reversed_at, delivery, fence, decided_at
        """

    static let all = proofs + grants + orders + balances + asked + told + audited

    private static let proofs = [
        Damage(
            .rowUnreadable,
            "row=fulfilments 1/0/1",
            "UPDATE fulfilments SET state = 'gone' WHERE transaction_id = 1"
        ),
        Damage(.rowUnreadable, "row=orders o2", "UPDATE orders SET state = 'lost' WHERE order_id = 'o2'"),
        Damage(.rowUnreadable, "row=transactions 3/0", "UPDATE transactions SET product = '' WHERE transaction_id = 3"),
        Damage(
            .evidenceMissing,
            "transaction_id=1",
            "UPDATE transactions SET latest_evidence = 999999 WHERE transaction_id = 1"
        ),
        Damage(
            .proofAltered,
            "sha256=1cfbf96c7ce02f73e59aef89b773f36530c9c917d40d0c3f412c912a256caf87",
            """
            UPDATE evidence SET sha256 = (SELECT sha256 FROM submissions)
            WHERE sequence = (SELECT min(sequence) FROM evidence)
            """
        ),
        Damage(.submissionHalfSettled, "app=game", "UPDATE submissions SET settled_at = 5"),
        Damage(
            .recordedTwice,
            "transaction_id=1",
            onlyPostgreSQL: "ALTER TABLE transactions DROP CONSTRAINT transactions_pkey",
            "INSERT INTO transactions SELECT * FROM transactions WHERE transaction_id = 1"
        ),
    ]

    private static let grants = [
        Damage(
            .subscriptionMissing,
            "original_transaction_id=4",
            "DELETE FROM subscriptions WHERE original_id = 4"
        ),
        Damage(
            .subscriptionContradicts,
            "original_transaction_id=4",
            "UPDATE subscriptions SET transaction_id = 4 WHERE original_id = 4"
        ),
        Damage(
            .subscriptionContradicts,
            "original_transaction_id=4",
            "UPDATE subscriptions SET is_shared = 1 WHERE original_id = 4"
        ),
        Damage(.wallCrossed, "environment=sandbox", "UPDATE fulfilments SET realm = 2 WHERE transaction_id = 3"),
        Damage(
            .wallCrossed,
            "environment=sandbox",
            "UPDATE postings SET realm = 2 WHERE customer = 'bob'",
            "UPDATE wallets SET realm = 2 WHERE customer = 'bob'"
        ),
        Damage(.fulfilmentWithoutTransaction, "transaction_id=3", "DELETE FROM transactions WHERE transaction_id = 3"),
        Damage(
            .chainContradicts,
            "transaction_id=5",
            "UPDATE fulfilments SET original_id = 77 WHERE transaction_id = 5"
        ),
        Damage(
            .fulfilledTwice,
            "transaction_id=5",
            """
            INSERT INTO fulfilments (app, original_id, realm, transaction_id, unit, \(columns))
            SELECT app, 5, realm, transaction_id, 'transaction:5', \(columns) FROM fulfilments WHERE transaction_id = 5
            """
        ),
        Damage(
            .unitGrantedTwice,
            "transaction_id=5",
            "DROP INDEX fulfilments_units",
            """
            UPDATE fulfilments SET unit = (SELECT unit FROM fulfilments WHERE transaction_id = 4)
            WHERE transaction_id = 5
            """
        ),
        Damage(
            .grantIncomplete,
            "transaction_id=1",
            "UPDATE fulfilments SET delivery = NULL WHERE transaction_id = 1"
        ),
        Damage(
            .grantIncomplete,
            "transaction_id=1",
            "UPDATE fulfilments SET state = 'waiting' WHERE transaction_id = 1"
        ),
        Damage(.ownerMissing, "transaction_id=3", "DELETE FROM owners WHERE original_id = 3"),
        Damage(
            .revocationContradicts,
            "transaction_id=1",
            "UPDATE transactions SET revoked_at = 5 WHERE transaction_id = 1"
        ),
        Damage(
            .revocationContradicts,
            "transaction_id=2",
            "UPDATE fulfilments SET state = 'granted' WHERE transaction_id = 2"
        ),
        Damage(
            .revocationContradicts,
            "transaction_id=2",
            "UPDATE fulfilments SET state = 'partly_reversed' WHERE transaction_id = 2"
        ),
        Damage(
            .reversalDiffers,
            "transaction_id=2",
            "UPDATE fulfilments SET reversed = 50000 WHERE transaction_id = 2"
        ),
    ]

    private static let orders = [
        Damage(.orderMissing, "transaction_id=1", "DELETE FROM orders WHERE order_id = 'o1'"),
        Damage(.orderContradicts, "order_id=o1", "UPDATE orders SET quantity = 2 WHERE order_id = 'o1'"),
        Damage(
            .orderContradicts,
            "transaction_id=3",
            "UPDATE fulfilments SET order_id = 'o1' WHERE transaction_id = 3"
        ),
        Damage(.orderStateContradicts, "order_id=o1", "UPDATE orders SET state = 'expired' WHERE order_id = 'o1'"),
        Damage(.orderStateContradicts, "order_id=o2", "UPDATE orders SET state = 'paid' WHERE order_id = 'o2'"),
        Damage(.orderStateContradicts, "order_id=o1", "UPDATE orders SET refunded = 40000 WHERE order_id = 'o1'"),
        Damage(.orderStateContradicts, "order_id=o1", "UPDATE orders SET state = 'refunded' WHERE order_id = 'o1'"),
    ]

    private static let balances = [
        Damage(.postingGap, "customer_id=ann", "DELETE FROM postings WHERE customer = 'ann' AND number = 2"),
        Damage(.postingGap, "customer_id=ann", "UPDATE wallets SET postings = 99 WHERE customer = 'ann'"),
        Damage(
            .postingContradicts,
            "customer_id=ann",
            "UPDATE postings SET credit = debit WHERE customer = 'ann' AND number = 2"
        ),
        Damage(
            .postingContradicts,
            "customer_id=ann",
            "UPDATE postings SET transaction_id = NULL WHERE customer = 'ann' AND number = 1"
        ),
        Damage(.walletMissing, "customer_id=bob", "DELETE FROM wallets WHERE customer = 'bob'"),
        Damage(
            .figureDiffers,
            "product_id=coins",
            "UPDATE figures SET amount = amount + 1 WHERE measure = 'first_purchases' AND product = 'coins'"
        ),
        Damage(.balanceDiffers, "customer_id=ann", "UPDATE wallets SET balance = balance + 1 WHERE customer = 'ann'"),
        Damage(.balanceDiffers, "customer_id=bob", "UPDATE wallets SET uncollected = -3 WHERE customer = 'bob'"),
        Damage(
            .amountsDiffer,
            "transaction_id=1",
            "UPDATE postings SET amount = amount + 1 WHERE customer = 'ann' AND number = 1"
        ),
        Damage(
            .amountsDiffer,
            "transaction_id=3",
            "UPDATE fulfilments SET goods = 'amount gems 7 0 0' WHERE transaction_id = 3"
        ),
        // Given without a single posting: that only shows when what was given is counted.
        Damage(
            .amountsDiffer,
            "currency=gold",
            "UPDATE fulfilments SET goods = goods || '\namount gold 5 0 0' WHERE transaction_id = 3"
        ),
        Damage(
            .amountsDiffer,
            "transaction_id=3",
            "DELETE FROM postings WHERE customer = 'bob'",
            "DELETE FROM wallets WHERE customer = 'bob'"
        ),
    ]

    private static let asked = [
        Damage(
            .consumptionWithoutNotification,
            "notification_id=11111111-2222-4333-8444-555555555555",
            "DELETE FROM notifications"
        ),
        Damage(.consumptionWithoutNotification, "app=game", "UPDATE notifications SET transaction_id = 1"),
        Damage(.consumptionWithoutTransaction, "app=game", "UPDATE consumption_requests SET transaction_id = 99"),
        Damage(.consumptionContradicts, "app=game", "UPDATE consumption_requests SET settled_at = 5"),
        Damage(.consumptionContradicts, "environment=production", "UPDATE consumption_requests SET state = 'sending'"),
        Damage(
            .consumptionContradicts,
            "environment=production",
            "UPDATE consumption_requests SET state = 'answered', settled_at = 5"
        ),
        Damage(
            .consumptionContradicts,
            "environment=production",
            """
            UPDATE consumption_requests SET sent_delivery = 'delivered', sent_delivery_because = 'in_the_books',
                sent_sample = 0, sent_percentage_because = 'not_known', sent_preference_because = 'no_wish',
                sent_consent_because = 'consent_by_terms'
            """
        ),
        Damage(
            .requestAbandoned,
            "notification_id=11111111-2222-4333-8444-555555555555",
            "DELETE FROM jobs WHERE kind = 'consumption.answer'"
        ),
        // A dead letter goes on with nothing.
        Damage(.requestAbandoned, "environment=production", "UPDATE jobs SET state = 3, died_at = 5, reason = 'no'"),
        Damage(.requestAbandoned, "app=game", "DELETE FROM jobs WHERE kind = 'support.ask'"),
        Damage(.supportContradicts, "app=game", "UPDATE support_requests SET kind = 'fortune.tell'"),
        Damage(.supportContradicts, "app=game", "UPDATE support_requests SET settled_at = 5"),
        Damage(.supportContradicts, "app=game", "UPDATE support_requests SET state = 'done', settled_at = 5"),
    ]

    /// More of these: ``AuditCheckTests``.
    private static let audited = [
        Damage(
            .auditChainBroken,
            "number=1",
            """
            INSERT INTO admin_actions (sequence, at, remote, action, link_number)
            VALUES (1, 5, '192.0.2.1', 'signed_in', 1)
            """
        )
    ]

    private static let told = [
        Damage(.eventGap, "app=game", "DELETE FROM events WHERE position = 2"),
        Damage(.eventGap, "app=game", "UPDATE event_heads SET last_position = 1000"),
        Damage(
            .sequenceGap,
            "customer_id=bob",
            "UPDATE events SET sequence = 1000 WHERE customer = 'bob' AND sequence = 1"
        ),
        Damage(
            .eventOutOfOrder,
            "customer_id=ann",
            "UPDATE events SET sequence = 1000 WHERE customer = 'ann' AND realm = 0 AND sequence = 1",
            "UPDATE events SET sequence = 1 WHERE customer = 'ann' AND realm = 0 AND sequence = 2",
            "UPDATE events SET sequence = 2 WHERE customer = 'ann' AND realm = 0 AND sequence = 1000"
        ),
        Damage(
            .changesUntold,
            "environment=production",
            "UPDATE events SET type = 'order.placed' WHERE type = 'entitlement.granted'"
        ),
        Damage(
            .grantedContradicts,
            "entitlement=premium",
            "UPDATE granted_entitlements SET ends_at = 4000000000000, revoked = 0"
        ),
        Damage(.changesUntold, "environment=production", "DELETE FROM granted_entitlements"),
        Damage(
            .changesUntold,
            "environment=production",
            """
            UPDATE events SET type = 'order.placed'
            WHERE position = (SELECT min(position) FROM events WHERE type = 'delivery.granted')
            """
        ),
        Damage(.deliveryMissing, "position=3", "DELETE FROM webhook_deliveries WHERE position = 3"),
        Damage(
            .deliveryWithoutEvent,
            "position=5000",
            "UPDATE webhook_deliveries SET position = 5000 WHERE position = 1"
        ),
        Damage(.deliveryWithoutEvent, "position=2", "DELETE FROM events WHERE position = 2"),
        Damage(.deliveryContradicts, "position=1", "UPDATE webhook_deliveries SET customer = 'eve' WHERE position = 1"),
        Damage(.deliveryContradicts, "position=1", "UPDATE webhook_deliveries SET ended_at = 5 WHERE position = 1"),
        Damage(.wallCrossed, "position=1", "UPDATE webhook_deliveries SET realm = 2 WHERE position = 1"),
    ]
}
