-- With which fence a delivery came out of another ledger of ours: sqlite_0051, which says more.
ALTER TABLE fulfilments ADD COLUMN IF NOT EXISTS imported_fence BIGINT NOT NULL DEFAULT 0;
