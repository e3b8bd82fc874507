-- What proves that of a transaction which its newest proof is of the wrong kind to tell. NULL where the newest tells all, or as
-- much as any before it; and for what earlier versions recorded.
ALTER TABLE transactions ADD COLUMN IF NOT EXISTS fuller_evidence BIGINT;
