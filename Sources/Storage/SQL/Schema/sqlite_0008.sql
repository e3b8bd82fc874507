-- What Apple asks about purchases whose price customers want back, what was answered and with whose consent; who did
-- what; and what people had Apple asked.

CREATE TABLE consumption_requests (
    app INTEGER NOT NULL,
    -- The notification in which Apple asks.
    id TEXT NOT NULL,
    realm INTEGER NOT NULL,
    version INTEGER NOT NULL,
    transaction_id INTEGER NOT NULL,
    original_id INTEGER NOT NULL,
    product TEXT NOT NULL,
    -- Of the answer: 1 or 2.
    form INTEGER NOT NULL,
    reason TEXT,
    asked_at INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    deadline INTEGER NOT NULL,
    answer_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    ending TEXT,
    preference TEXT,
    approved INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    -- What was on its way to Apple; all of it is NULL before.
    sent_delivery TEXT,
    sent_delivery_because TEXT,
    sent_sample INTEGER,
    sent_percentage INTEGER,
    sent_percentage_because TEXT,
    sent_preference TEXT,
    sent_preference_because TEXT,
    sent_consent_because TEXT,
    settled_at INTEGER,
    PRIMARY KEY (app, id, realm)
) STRICT, WITHOUT ROWID;

CREATE INDEX consumption_requests_by_time ON consumption_requests (app, received_at, id);

CREATE INDEX consumption_requests_of_transaction ON consumption_requests (app, transaction_id, realm);

CREATE TABLE consents (
    app INTEGER NOT NULL,
    -- A customer, or an account's app transaction.
    subject TEXT NOT NULL,
    version INTEGER NOT NULL,
    given INTEGER NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (app, subject)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
    app INTEGER NOT NULL,
    subject TEXT NOT NULL,
    -- The version that what it is about has since.
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    act TEXT NOT NULL,
    detail TEXT,
    PRIMARY KEY (app, subject, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE support_requests (
    app INTEGER NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    kind TEXT NOT NULL,
    asked_by TEXT NOT NULL,
    asked_at INTEGER NOT NULL,
    question BLOB NOT NULL,
    state TEXT NOT NULL,
    answer BLOB,
    settled_at INTEGER,
    PRIMARY KEY (app, id)
) STRICT;

CREATE INDEX support_requests_by_time ON support_requests (app, asked_at, id);
