-- While an endpoint was disabled, until it has been sent what it missed.
ALTER TABLE webhook_endpoints ADD COLUMN IF NOT EXISTS gap_from BIGINT;
ALTER TABLE webhook_endpoints ADD COLUMN IF NOT EXISTS gap_to BIGINT;
ALTER TABLE webhook_endpoints ADD COLUMN IF NOT EXISTS gap_after BIGINT;
