-- Apple's notifications as they came, and how far what Apple says to have sent was compared with them.

CREATE TABLE notifications (
    app INTEGER NOT NULL,
    id TEXT NOT NULL,
    realm INTEGER NOT NULL,
    -- Of the format: 1 or 2.
    format INTEGER NOT NULL,
    type TEXT NOT NULL,
    subtype TEXT,
    original_id INTEGER,
    transaction_id INTEGER,
    -- 0 sent to us, 1 fetched by us.
    arrival INTEGER NOT NULL,
    signed_at INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    payload BLOB NOT NULL,
    PRIMARY KEY (app, id, realm)
) STRICT;

CREATE INDEX notifications_by_time ON notifications (app, received_at, id);

CREATE INDEX notifications_of_chain ON notifications (app, original_id, received_at, id) WHERE original_id IS NOT NULL;

CREATE TABLE notification_watches (
    app INTEGER NOT NULL,
    realm INTEGER NOT NULL,
    version INTEGER NOT NULL,
    compared_until INTEGER NOT NULL,
    sent INTEGER NOT NULL,
    arrived INTEGER NOT NULL,
    recovered INTEGER NOT NULL,
    PRIMARY KEY (app, realm)
) STRICT, WITHOUT ROWID;
