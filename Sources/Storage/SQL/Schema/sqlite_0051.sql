-- With which fence a delivery came out of another ledger of ours; 0 where it did not. The shop was told of the changes until then by
-- that one, and leaves alone what comes with no greater fence.
ALTER TABLE fulfilments ADD COLUMN imported_fence INTEGER NOT NULL DEFAULT 0;
