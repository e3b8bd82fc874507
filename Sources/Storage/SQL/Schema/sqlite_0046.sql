-- What waits is found without a walk along all that ever was.
CREATE INDEX submissions_overdue ON submissions (received_at, sequence) WHERE settled_at IS NULL;
CREATE INDEX webhook_deliveries_open ON webhook_deliveries (endpoint, state, position) WHERE ended_at IS NULL;
CREATE INDEX fulfilments_waiting_in_order ON fulfilments (app, original_id, realm, transaction_id)
WHERE state = 'waiting';
