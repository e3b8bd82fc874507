-- How the next period is paid for, and what comes after a commitment: sqlite_0050, which says more.
ALTER TABLE subscriptions ADD COLUMN IF NOT EXISTS renewal_billing_plan TEXT COLLATE "C";
ALTER TABLE subscriptions ADD COLUMN IF NOT EXISTS commitment_auto_renew BIGINT;
ALTER TABLE subscriptions ADD COLUMN IF NOT EXISTS commitment_next_product TEXT COLLATE "C";
ALTER TABLE subscriptions ADD COLUMN IF NOT EXISTS commitment_billing_plan TEXT COLLATE "C";
ALTER TABLE subscriptions ADD COLUMN IF NOT EXISTS commitment_renews_at BIGINT;
