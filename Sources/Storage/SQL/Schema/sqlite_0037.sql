-- What was paid back of a period that another plan had taken the place of was not counted: where there is one, all of the app
-- is counted anew. A moment alone is what receipts say of any upgrade.
INSERT INTO figures_due (app)
SELECT DISTINCT app FROM transactions
WHERE is_upgraded = 1 AND revoked_at IS NOT NULL
    AND (revocation_reason IS NOT NULL OR revocation_type IS NOT NULL OR revocation_percentage IS NOT NULL)
ON CONFLICT (app) DO NOTHING;
