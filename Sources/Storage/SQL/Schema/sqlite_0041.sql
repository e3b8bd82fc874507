-- How much of an order's payment Apple took back, in thousandths of a percent.
ALTER TABLE orders ADD COLUMN refunded INTEGER NOT NULL DEFAULT 0;
UPDATE orders SET refunded = COALESCE((
    SELECT MAX(f.reversed) FROM transactions AS t
    JOIN fulfilments AS f ON f.app = t.app AND f.original_id IN (t.original_id, t.transaction_id) AND f.realm = t.realm
        AND f.transaction_id = t.transaction_id
    WHERE t.app = orders.app AND t.transaction_id = orders.paid_by AND t.realm = orders.paid_realm
), 100000)
WHERE state = 'refunded';

-- What was taken back in part stood as if all of it was. What can be divided are amounts, and what is used up without our knowing
-- what it is. The shop was told to undo all of it: its delivery stands as it did.
UPDATE fulfilments SET state = 'partly_reversed'
WHERE state = 'reversed' AND reversed < 100000 AND (
    goods LIKE 'amount %' OR goods LIKE '%' || char(10) || 'amount %' OR goods = '' AND EXISTS (
        SELECT 1 FROM transactions AS t
        WHERE t.app = fulfilments.app AND t.transaction_id = fulfilments.transaction_id AND t.realm = fulfilments.realm
            AND t.kind = 'consumable'
    )
);

-- Nobody is to deliver such an order once more, and who had it undone owes no more than a person finds. Orders are counted by
-- their states: where one is another now, all of the app is counted anew.
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
