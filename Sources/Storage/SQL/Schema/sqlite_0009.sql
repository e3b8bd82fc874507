-- What comes out of other systems' books: which of it they have delivered, and how far each source was read.

-- 1: another system delivered it, so that it is neither told nor credited here.
ALTER TABLE fulfilments ADD COLUMN imported INTEGER NOT NULL DEFAULT 0;

-- 0 somebody presented it; 1 an import of what another system has delivered; 2 an import of what is still to be. Imports take
-- no place of those who present a purchase.
ALTER TABLE submissions ADD COLUMN imported INTEGER NOT NULL DEFAULT 0;

CREATE TABLE imports (
    -- Made of the source's bytes and of how it is read.
    id BLOB NOT NULL CHECK (length(id) = 32),
    app INTEGER NOT NULL,
    version INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    is_done INTEGER NOT NULL,
    -- Where the next row begins, in bytes, and on which line.
    place INTEGER NOT NULL,
    line INTEGER NOT NULL,
    recorded INTEGER NOT NULL,
    known INTEGER NOT NULL,
    asked INTEGER NOT NULL,
    without_purchase INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    invalid INTEGER NOT NULL,
    -- How long the report was before the last rows were written to it, and those: a killed process may have lost them.
    report_bytes INTEGER NOT NULL,
    report_tail BLOB NOT NULL,
    PRIMARY KEY (id)
) STRICT, WITHOUT ROWID;
