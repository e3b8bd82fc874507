-- Apple moves a subscription to Advanced Commerce under a new original transaction, and says which one it goes on from: the
-- chain before, of a transaction; the chain after, of whose it is.
ALTER TABLE transactions ADD COLUMN previous_original_id INTEGER;
ALTER TABLE owners ADD COLUMN successor INTEGER;
-- How a subscription is paid for, and until when its customer has committed herself.
ALTER TABLE transactions ADD COLUMN billing_plan TEXT;
ALTER TABLE transactions ADD COLUMN commitment_ends_at INTEGER;
-- What the customer may be won back by, a line each.
ALTER TABLE subscriptions ADD COLUMN renewal_win_back_offers TEXT;
-- What was bought through Advanced Commerce, a line for each item.
ALTER TABLE transactions ADD COLUMN advanced_commerce TEXT;
