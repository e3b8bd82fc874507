-- What comes out of other systems' books: sqlite_0009, which says more.

ALTER TABLE fulfilments ADD COLUMN IF NOT EXISTS imported BIGINT NOT NULL DEFAULT 0;

ALTER TABLE submissions ADD COLUMN IF NOT EXISTS imported BIGINT NOT NULL DEFAULT 0;

CREATE TABLE IF NOT EXISTS imports (
    id BYTEA NOT NULL CHECK (length(id) = 32),
    app BIGINT NOT NULL,
    version BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    is_done BIGINT NOT NULL,
    place BIGINT NOT NULL,
    line BIGINT NOT NULL,
    recorded BIGINT NOT NULL,
    known BIGINT NOT NULL,
    asked BIGINT NOT NULL,
    without_purchase BIGINT NOT NULL,
    refused BIGINT NOT NULL,
    invalid BIGINT NOT NULL,
    report_bytes BIGINT NOT NULL,
    report_tail BYTEA NOT NULL,
    PRIMARY KEY (id)
);
