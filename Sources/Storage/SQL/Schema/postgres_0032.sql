-- How often an app's figures were corrected: sqlite_0033, which says more.
ALTER TABLE apps ADD COLUMN IF NOT EXISTS figure_corrections BIGINT NOT NULL DEFAULT 0;
