-- How many of the rows that were taken name no customer.
ALTER TABLE imports ADD COLUMN IF NOT EXISTS without_customer BIGINT NOT NULL DEFAULT 0;
