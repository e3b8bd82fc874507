-- What waits of one customer is counted: sqlite_0040, which says more.
CREATE INDEX IF NOT EXISTS submissions_pending_of_customer ON submissions (app, customer)
    WHERE settled_at IS NULL AND imported = 0;
