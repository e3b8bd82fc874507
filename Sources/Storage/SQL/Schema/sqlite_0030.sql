-- How many of the rows that were taken name no customer.
ALTER TABLE imports ADD COLUMN without_customer INTEGER NOT NULL DEFAULT 0;
