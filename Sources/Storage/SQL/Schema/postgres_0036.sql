-- What was paid back of a period that another plan had taken the place of is counted: sqlite_0037, which says more.
INSERT INTO figures_due (app)
SELECT DISTINCT app FROM transactions
WHERE is_upgraded = 1 AND revoked_at IS NOT NULL
    AND (revocation_reason IS NOT NULL OR revocation_type IS NOT NULL OR revocation_percentage IS NOT NULL)
ON CONFLICT (app) DO NOTHING;
