-- One account is the first of all: two that are made at once, under whatever names, are not both.
ALTER TABLE admins ADD COLUMN is_first INTEGER;
CREATE UNIQUE INDEX admins_first ON admins (is_first) WHERE is_first IS NOT NULL;

-- The links by which it is made: the SHA-256 of the token in each. With the first account they are gone.
CREATE TABLE first_account_links (
    digest BLOB PRIMARY KEY CHECK (length(digest) = 32),
    made_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
