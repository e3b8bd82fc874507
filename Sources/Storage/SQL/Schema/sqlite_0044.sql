-- The realms of all that an endpoint was ever to be sent: what its filter leaves out since stands in its log, and may wait.
ALTER TABLE webhook_endpoints ADD COLUMN realms_ever INTEGER NOT NULL DEFAULT 0;
UPDATE webhook_endpoints SET realms_ever = realms | COALESCE((
    SELECT sum(DISTINCT 1 << realm) FROM webhook_deliveries WHERE endpoint = webhook_endpoints.code
), 0);
