-- What stands beside a renewal that tells less than Apple signs: sqlite_0053, which says more.
ALTER TABLE subscriptions ADD COLUMN IF NOT EXISTS renewal_beside BYTEA;
