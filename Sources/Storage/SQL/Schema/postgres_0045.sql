-- What waits is found without a walk along all that ever was, and what is due at one moment is not sorted.
CREATE INDEX IF NOT EXISTS submissions_overdue ON submissions (received_at, sequence) WHERE settled_at IS NULL;
-- Out of the way of who claims: that a position is 1 at least is said by the listing alone, and above 0 by others.
CREATE INDEX IF NOT EXISTS webhook_deliveries_open ON webhook_deliveries (endpoint, state, position)
WHERE ended_at IS NULL AND position >= 1;
CREATE INDEX IF NOT EXISTS fulfilments_waiting_in_order ON fulfilments (app, original_id, realm, transaction_id)
WHERE state = 'waiting';
CREATE INDEX IF NOT EXISTS subscriptions_due_in_order ON subscriptions (next_look_at, app, original_id, realm)
WHERE next_look_at IS NOT NULL;
DROP INDEX IF EXISTS subscriptions_due;
