-- Which renewals of a subscription could not be charged: sqlite_0017, which says more.

ALTER TABLE subscriptions ADD COLUMN IF NOT EXISTS period_ends TEXT COLLATE "C";
