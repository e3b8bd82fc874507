-- A family member's copy, and what is due of it: sqlite_0027, which says more.
ALTER TABLE subscriptions ADD COLUMN IF NOT EXISTS is_shared BIGINT NOT NULL DEFAULT 0;

-- In one statement, so that run again it takes nothing off twice.
WITH copies AS (
    UPDATE subscriptions SET is_shared = 1
    WHERE is_shared = 0 AND EXISTS (
        SELECT 1 FROM transactions t
        WHERE t.app = subscriptions.app AND t.transaction_id = subscriptions.transaction_id
            AND t.realm = subscriptions.realm AND t.ownership = 'family_shared'
    )
    RETURNING app, realm, product, state, will_auto_renew, expires_at, renewal_price, renewal_currency
), due AS (
    SELECT app, realm, product, expires_at / 86400000 AS day, renewal_price, renewal_currency FROM copies
    WHERE state = 'active' AND coalesce(will_auto_renew, 1) <> 0 AND expires_at IS NOT NULL
        AND app NOT IN (SELECT app FROM figures_due)
)
INSERT INTO figures (app, realm, measure, day, product, storefront, currency, step, slot, amount)
SELECT app, realm, 'renewals_due', day, product, '', '', 0, 0, -count(*) FROM due
GROUP BY app, realm, day, product
UNION ALL
SELECT app, realm, 'value_due', day, product, '', renewal_currency, 0, 0, CAST(-sum(renewal_price) AS BIGINT) FROM due
WHERE renewal_price BETWEEN 0 AND 1000000000000 AND renewal_currency ~ '^[A-Z][A-Z][A-Z]$'
GROUP BY app, realm, day, product, renewal_currency
ON CONFLICT (app, realm, measure, day, product, storefront, currency, step, slot)
DO UPDATE SET amount = figures.amount + excluded.amount;
