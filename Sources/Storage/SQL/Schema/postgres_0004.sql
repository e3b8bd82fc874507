-- Apple's notifications as they came: sqlite_0006, which says more.

CREATE TABLE IF NOT EXISTS notifications (
    app BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    realm SMALLINT NOT NULL,
    format BIGINT NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    subtype TEXT COLLATE "C",
    original_id BIGINT,
    transaction_id BIGINT,
    arrival BIGINT NOT NULL,
    signed_at BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    payload BYTEA NOT NULL,
    PRIMARY KEY (app, id, realm)
);

CREATE INDEX IF NOT EXISTS notifications_by_time ON notifications (app, received_at, id);

CREATE INDEX IF NOT EXISTS notifications_of_chain ON notifications (app, original_id, received_at, id) WHERE original_id IS NOT NULL;

CREATE TABLE IF NOT EXISTS notification_watches (
    app BIGINT NOT NULL,
    realm SMALLINT NOT NULL,
    version BIGINT NOT NULL,
    compared_until BIGINT NOT NULL,
    sent BIGINT NOT NULL,
    arrived BIGINT NOT NULL,
    recovered BIGINT NOT NULL,
    PRIMARY KEY (app, realm)
);
