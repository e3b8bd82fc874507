-- Which renewals of a subscription could not be charged, and when it was over: what any statement on its renewal said, of
-- which only the newest stands in the columns before. PeriodEndsText says how it is written; NULL where nothing was said.
ALTER TABLE subscriptions ADD COLUMN period_ends TEXT;
