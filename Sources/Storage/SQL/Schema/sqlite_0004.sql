-- Events and their way out, work that is done later, and answers that are kept. Words of their states stand in
-- DeliveryState and JobState.

-- How many events of each app there are. A write that adds events moves this first and holds the row until it commits:
-- so positions have no gap and stand in commit order, however many write.
CREATE TABLE event_heads (
    app INTEGER PRIMARY KEY,
    last_position INTEGER NOT NULL
) STRICT;

CREATE TABLE events (
    app INTEGER NOT NULL REFERENCES apps (code),
    position INTEGER NOT NULL,
    id TEXT NOT NULL,
    realm INTEGER NOT NULL,
    -- Empty when there is none: two NULLs would not be the same.
    customer TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    type TEXT NOT NULL,
    happened_at INTEGER NOT NULL,
    learned_at INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (app, position),
    UNIQUE (app, id),
    UNIQUE (app, realm, customer, sequence)
) STRICT;

CREATE TABLE webhook_endpoints (
    code INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    app INTEGER NOT NULL REFERENCES apps (code),
    url TEXT NOT NULL,
    -- Each after its length, one byte. Empty once the endpoint is deleted.
    secrets BLOB NOT NULL,
    signing_key BLOB,
    -- Words, one space between two. NULL for all.
    types TEXT,
    -- Bit n stands for the realm of code n: RealmCode.
    realms INTEGER NOT NULL,
    concurrency_max INTEGER NOT NULL,
    per_second_max INTEGER,
    orders_per_customer INTEGER NOT NULL,
    acknowledges_by_2xx INTEGER NOT NULL,
    is_enabled INTEGER NOT NULL,
    disabled_reason TEXT,
    failing_since INTEGER,
    is_deleted INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL
) STRICT;

CREATE INDEX webhook_endpoints_of_app ON webhook_endpoints (app);

-- One for each event and endpoint. What is delivered leaves the indexes: they are as small as the backlog.
CREATE TABLE webhook_deliveries (
    endpoint INTEGER NOT NULL,
    position INTEGER NOT NULL,
    realm INTEGER NOT NULL,
    customer TEXT,
    state INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    -- While it is leased: until when.
    due_at INTEGER NOT NULL,
    owner TEXT,
    -- Counts the claims.
    token INTEGER NOT NULL,
    last_status INTEGER,
    dead_reason TEXT,
    -- NULL while it waits or is leased.
    ended_at INTEGER,
    PRIMARY KEY (endpoint, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint, state, due_at, position) WHERE ended_at IS NULL;

CREATE INDEX webhook_deliveries_of_customer ON webhook_deliveries (endpoint, realm, customer, position)
WHERE ended_at IS NULL AND customer IS NOT NULL;

CREATE INDEX webhook_deliveries_dead ON webhook_deliveries (endpoint, position) WHERE state = 3;

CREATE TABLE webhook_attempts (
    endpoint INTEGER NOT NULL,
    position INTEGER NOT NULL,
    number INTEGER NOT NULL,
    began_at INTEGER NOT NULL,
    milliseconds INTEGER NOT NULL,
    status INTEGER,
    failure TEXT,
    address TEXT,
    answer BLOB NOT NULL,
    PRIMARY KEY (endpoint, position, number)
) STRICT;

CREATE TABLE jobs (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    payload BLOB NOT NULL,
    first_due_at INTEGER NOT NULL,
    unique_key TEXT,
    created_at INTEGER NOT NULL,
    state INTEGER NOT NULL,
    -- While it is leased: until when.
    due_at INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    lost_leases INTEGER NOT NULL,
    owner TEXT,
    -- Counts the claims.
    token INTEGER NOT NULL,
    reason TEXT,
    died_at INTEGER
) STRICT;

CREATE INDEX jobs_due ON jobs (state, kind, due_at, sequence);

CREATE UNIQUE INDEX jobs_by_key ON jobs (kind, unique_key) WHERE unique_key IS NOT NULL AND state < 3;

CREATE INDEX jobs_dead ON jobs (died_at, id) WHERE died_at IS NOT NULL;

-- What was answered to a request, for the same request to be answered alike.
CREATE TABLE kept_answers (
    sequence INTEGER PRIMARY KEY,
    holder TEXT NOT NULL,
    request_key TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    status INTEGER NOT NULL,
    content_type TEXT NOT NULL,
    body BLOB NOT NULL,
    kept_at INTEGER NOT NULL,
    UNIQUE (holder, request_key)
) STRICT;
