-- The certificates of chains that held: sqlite_0010, which says more.

CREATE TABLE IF NOT EXISTS certificates (
    sha256 BYTEA PRIMARY KEY,
    role TEXT COLLATE "C" NOT NULL,
    vouched_by TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    issuer TEXT COLLATE "C" NOT NULL,
    serial TEXT COLLATE "C" NOT NULL,
    not_before BIGINT NOT NULL,
    not_after BIGINT NOT NULL,
    first_seen_at BIGINT NOT NULL
);
