"""What the checker reads of a ledger, and what stands there."""

from datetime import datetime, timezone

QUERIES = {
    "transactions": "SELECT transaction_id, realm, customer, order_id, product, quantity, purchased_at, revoked_at, "
    "revocation_percentage, recorded_at FROM transactions",
    "fulfilments": "SELECT transaction_id, realm, product, quantity, customer, state, reason, unit, order_id, reversed, "
    "delivery, fence FROM fulfilments",
    "orders": "SELECT order_id, customer, product, quantity, state, refunded, placed_at, paid_by, paid_realm, match, "
    "account_token IS NOT NULL AS has_token FROM orders",
    "owners": "SELECT original_id, realm, customer, previous FROM owners",
    "wallets": "SELECT customer, realm, currency, balance, uncollected, postings FROM wallets",
    "postings": "SELECT customer, realm, currency, number, amount, debit, credit, cause, transaction_id FROM postings",
    "events": "SELECT position, id, realm, customer, sequence, type FROM events ORDER BY position",
    "heads": "SELECT last_position FROM event_heads",
    "endpoints": "SELECT code, id FROM webhook_endpoints",
    "deliveries": "SELECT endpoint, position, state, dead_reason, attempts FROM webhook_deliveries",
}
PENDING, LEASED, DELIVERED, DEAD = range(4)
# What a fulfilment is of which something was given, whatever of it was taken back.
GIVEN = ("granted", "partly_reversed", "reversed")
# Production, and signed by a test authority.
REALM = 1


def milliseconds(text: str) -> int:
    moment = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
    return round(moment.timestamp() * 1000)
