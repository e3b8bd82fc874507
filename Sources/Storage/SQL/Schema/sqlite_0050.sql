-- How the next period is paid for, and what comes after a commitment, where a year is paid for by the month: who cancels in the
-- middle says only there that it is not renewed.
ALTER TABLE subscriptions ADD COLUMN renewal_billing_plan TEXT;
ALTER TABLE subscriptions ADD COLUMN commitment_auto_renew INTEGER;
ALTER TABLE subscriptions ADD COLUMN commitment_next_product TEXT;
ALTER TABLE subscriptions ADD COLUMN commitment_billing_plan TEXT;
ALTER TABLE subscriptions ADD COLUMN commitment_renews_at INTEGER;
