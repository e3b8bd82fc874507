-- The first account of all, and the links by which it is made: sqlite_0034, which says more.
ALTER TABLE admins ADD COLUMN IF NOT EXISTS is_first BIGINT;
CREATE UNIQUE INDEX IF NOT EXISTS admins_first ON admins (is_first) WHERE is_first IS NOT NULL;

CREATE TABLE IF NOT EXISTS first_account_links (
    digest BYTEA PRIMARY KEY,
    made_at BIGINT NOT NULL
);
