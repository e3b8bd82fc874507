-- How much of an order's payment Apple took back, and what was taken back in part: sqlite_0041, which says more.
ALTER TABLE orders ADD COLUMN IF NOT EXISTS refunded BIGINT NOT NULL DEFAULT 0;
UPDATE orders SET refunded = COALESCE((
    SELECT MAX(f.reversed) FROM transactions AS t
    JOIN fulfilments AS f ON f.app = t.app AND f.original_id IN (t.original_id, t.transaction_id) AND f.realm = t.realm
        AND f.transaction_id = t.transaction_id
    WHERE t.app = orders.app AND t.transaction_id = orders.paid_by AND t.realm = orders.paid_realm
), 100000)
WHERE state = 'refunded';

UPDATE fulfilments SET state = 'partly_reversed'
WHERE state = 'reversed' AND reversed < 100000 AND (
    goods LIKE 'amount %' OR goods LIKE '%' || chr(10) || 'amount %' OR goods = '' AND EXISTS (
        SELECT 1 FROM transactions AS t
        WHERE t.app = fulfilments.app AND t.transaction_id = fulfilments.transaction_id AND t.realm = fulfilments.realm
            AND t.kind = 'consumable'
    )
);

INSERT INTO figures_due (app) SELECT DISTINCT app FROM orders WHERE state = 'refunded' AND refunded < 100000
ON CONFLICT (app) DO NOTHING;
UPDATE orders SET state = 'delivered'
WHERE state = 'refunded' AND refunded < 100000 AND EXISTS (
    SELECT 1 FROM transactions AS t
    JOIN fulfilments AS f ON f.app = t.app AND f.original_id IN (t.original_id, t.transaction_id) AND f.realm = t.realm
        AND f.transaction_id = t.transaction_id
    WHERE t.app = orders.app AND t.transaction_id = orders.paid_by AND t.realm = orders.paid_realm
        AND f.state = 'partly_reversed'
);
