-- The certificates of chains that held: which, of whom, until when, and since when they are used.

CREATE TABLE certificates (
    sha256 BLOB PRIMARY KEY,
    -- root, intermediate or leaf.
    role TEXT NOT NULL,
    -- apple or added_root.
    vouched_by TEXT NOT NULL,
    subject TEXT NOT NULL,
    issuer TEXT NOT NULL,
    serial TEXT NOT NULL,
    not_before INTEGER NOT NULL,
    not_after INTEGER NOT NULL,
    first_seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
