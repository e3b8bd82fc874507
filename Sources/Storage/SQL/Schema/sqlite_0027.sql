-- 1: a family member's copy, which another one pays for, by what its newest period says.
ALTER TABLE subscriptions ADD COLUMN is_shared INTEGER NOT NULL DEFAULT 0;
UPDATE subscriptions SET is_shared = 1
WHERE EXISTS (
    SELECT 1 FROM transactions t
    WHERE t.app = subscriptions.app AND t.transaction_id = subscriptions.transaction_id AND t.realm = subscriptions.realm
        AND t.ownership = 'family_shared'
);

-- What is due was counted of copies, too: it is taken off. Where all is still to be counted, nobody knows what was.
INSERT INTO figures (app, realm, measure, day, product, storefront, currency, step, slot, amount)
SELECT app, realm, 'renewals_due', expires_at / 86400000, product, '', '', 0, 0, -count(*)
FROM subscriptions
WHERE is_shared = 1 AND state = 'active' AND coalesce(will_auto_renew, 1) <> 0 AND expires_at IS NOT NULL
    AND app NOT IN (SELECT app FROM figures_due)
GROUP BY app, realm, expires_at / 86400000, product
ON CONFLICT (app, realm, measure, day, product, storefront, currency, step, slot)
DO UPDATE SET amount = figures.amount + excluded.amount;

-- Of a price as it is counted: in reason, and in a currency that has a code.
INSERT INTO figures (app, realm, measure, day, product, storefront, currency, step, slot, amount)
SELECT app, realm, 'value_due', expires_at / 86400000, product, '', renewal_currency, 0, 0, -sum(renewal_price)
FROM subscriptions
WHERE is_shared = 1 AND state = 'active' AND coalesce(will_auto_renew, 1) <> 0 AND expires_at IS NOT NULL
    AND app NOT IN (SELECT app FROM figures_due)
    AND renewal_price BETWEEN 0 AND 1000000000000 AND renewal_currency GLOB '[A-Z][A-Z][A-Z]'
GROUP BY app, realm, expires_at / 86400000, product, renewal_currency
ON CONFLICT (app, realm, measure, day, product, storefront, currency, step, slot)
DO UPDATE SET amount = figures.amount + excluded.amount;
