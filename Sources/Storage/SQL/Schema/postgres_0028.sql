-- Since when an endpoint is disabled, and the last place in its app's feed before that: of what stands behind it, it was sent
-- nothing. NULL while it is enabled, and for what earlier versions disabled.
ALTER TABLE webhook_endpoints ADD COLUMN IF NOT EXISTS disabled_at BIGINT;
ALTER TABLE webhook_endpoints ADD COLUMN IF NOT EXISTS missed_after BIGINT;
