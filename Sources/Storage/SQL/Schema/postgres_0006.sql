-- What Apple asks, and what it is asked: sqlite_0008, which says more.

CREATE TABLE IF NOT EXISTS consumption_requests (
    app BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    realm SMALLINT NOT NULL,
    version BIGINT NOT NULL,
    transaction_id BIGINT NOT NULL,
    original_id BIGINT NOT NULL,
    product TEXT COLLATE "C" NOT NULL,
    form BIGINT NOT NULL,
    reason TEXT COLLATE "C",
    asked_at BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    deadline BIGINT NOT NULL,
    answer_at BIGINT NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    ending TEXT COLLATE "C",
    preference TEXT COLLATE "C",
    approved BIGINT NOT NULL,
    turn BIGINT NOT NULL,
    sent_delivery TEXT COLLATE "C",
    sent_delivery_because TEXT COLLATE "C",
    sent_sample BIGINT,
    sent_percentage BIGINT,
    sent_percentage_because TEXT COLLATE "C",
    sent_preference TEXT COLLATE "C",
    sent_preference_because TEXT COLLATE "C",
    sent_consent_because TEXT COLLATE "C",
    settled_at BIGINT,
    PRIMARY KEY (app, id, realm)
);

CREATE INDEX IF NOT EXISTS consumption_requests_by_time ON consumption_requests (app, received_at, id);

CREATE INDEX IF NOT EXISTS consumption_requests_of_transaction ON consumption_requests (app, transaction_id, realm);

CREATE TABLE IF NOT EXISTS consents (
    app BIGINT NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    given BIGINT NOT NULL,
    since BIGINT NOT NULL,
    PRIMARY KEY (app, subject)
);

CREATE TABLE IF NOT EXISTS audit (
    app BIGINT NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    at BIGINT NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    act TEXT COLLATE "C" NOT NULL,
    detail TEXT COLLATE "C",
    PRIMARY KEY (app, subject, number)
);

CREATE TABLE IF NOT EXISTS support_requests (
    app BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    asked_by TEXT COLLATE "C" NOT NULL,
    asked_at BIGINT NOT NULL,
    question BYTEA NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    answer BYTEA,
    settled_at BIGINT,
    PRIMARY KEY (app, id)
);

CREATE INDEX IF NOT EXISTS support_requests_by_time ON support_requests (app, asked_at, id);
