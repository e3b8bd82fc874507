-- Which subscription another one goes on from: sqlite_0039, which says more.
ALTER TABLE transactions ADD COLUMN IF NOT EXISTS previous_original_id BIGINT;
ALTER TABLE owners ADD COLUMN IF NOT EXISTS successor BIGINT;
ALTER TABLE transactions ADD COLUMN IF NOT EXISTS billing_plan TEXT COLLATE "C";
ALTER TABLE transactions ADD COLUMN IF NOT EXISTS commitment_ends_at BIGINT;
ALTER TABLE subscriptions ADD COLUMN IF NOT EXISTS renewal_win_back_offers TEXT COLLATE "C";
ALTER TABLE transactions ADD COLUMN IF NOT EXISTS advanced_commerce TEXT COLLATE "C";
