-- Rows of other stores: sqlite_0042, which says more.
ALTER TABLE imports ADD COLUMN IF NOT EXISTS other_store BIGINT NOT NULL DEFAULT 0;
