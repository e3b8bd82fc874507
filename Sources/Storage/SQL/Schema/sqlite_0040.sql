-- What waits of one customer is counted before one more of hers is kept.
CREATE INDEX submissions_pending_of_customer ON submissions (app, customer) WHERE settled_at IS NULL AND imported = 0;
