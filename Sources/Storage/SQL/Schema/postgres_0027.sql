-- Which of a subscription's trials are paid for is counted anew: sqlite_0028, which says more.
INSERT INTO figures_due (app)
SELECT DISTINCT app FROM (
    SELECT t.app
    FROM transactions AS t
    LEFT JOIN fulfilments AS f ON f.app = t.app AND f.realm = t.realm AND f.transaction_id = t.transaction_id
        AND f.original_id IN (t.original_id, t.transaction_id)
    WHERE t.offer_discount = 'FREE_TRIAL' AND coalesce(t.ownership, '') <> 'family_shared'
    GROUP BY t.app, t.realm, coalesce(f.original_id, t.original_id, t.transaction_id)
    HAVING count(DISTINCT t.expires_at / 1000) > 1
) AS chains
ON CONFLICT (app) DO NOTHING;
