-- What only Apple's history tells of: sqlite_0024, which says more.
ALTER TABLE fulfilments ADD COLUMN IF NOT EXISTS of_history BIGINT NOT NULL DEFAULT 0;
