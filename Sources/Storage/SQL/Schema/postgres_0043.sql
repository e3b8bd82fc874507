-- The realms of all that an endpoint was ever to be sent: sqlite_0044, which says more.
ALTER TABLE webhook_endpoints ADD COLUMN IF NOT EXISTS realms_ever BIGINT NOT NULL DEFAULT 0;
UPDATE webhook_endpoints SET realms_ever = realms_ever | realms | COALESCE((
    SELECT CAST(sum(DISTINCT CAST(1 AS bigint) << CAST(realm AS integer)) AS bigint) FROM webhook_deliveries
    WHERE endpoint = webhook_endpoints.code
), 0);
