-- While an endpoint was disabled, until it has been sent what it missed.
ALTER TABLE webhook_endpoints ADD COLUMN gap_from INTEGER;
ALTER TABLE webhook_endpoints ADD COLUMN gap_to INTEGER;
ALTER TABLE webhook_endpoints ADD COLUMN gap_after INTEGER;
