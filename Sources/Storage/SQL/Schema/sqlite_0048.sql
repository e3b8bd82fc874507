-- From here on fulfilments.imported is 0, or when the books were closed out of which it was imported, in milliseconds; 1 where
-- nobody knows, as before.

-- Subscriptions whose beginning is not recorded counted as new, and a price that Apple had signed for a renewal before counted
-- as due. Where there are any, all of the app is counted anew.
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
