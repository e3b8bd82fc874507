-- What began before it was recorded, and which prices are due, is counted anew: sqlite_0048, which says more.
INSERT INTO figures_due (app)
SELECT code FROM apps
WHERE EXISTS (
    SELECT 1 FROM subscriptions AS s
    WHERE s.app = apps.code
        AND (
            (s.renewal_price IS NOT NULL AND s.will_auto_renew IS NULL)
            OR NOT EXISTS (
                SELECT 1 FROM transactions AS t
                WHERE t.app = s.app AND t.realm = s.realm AND t.transaction_id = s.original_id
            )
        )
)
ON CONFLICT (app) DO NOTHING;
