-- 1: nobody had it when it was decided about, and only Apple's history tells of it, also while it is taken back. Older rows
-- that wait say so by their reason.
ALTER TABLE fulfilments ADD COLUMN of_history INTEGER NOT NULL DEFAULT 0;
