-- The ledger. Tables only grow at their end (`sequence` is the row's place in the file), so that an insert touches one
-- random page for each index and no more: two indexes on `transactions`, no third without a measurement.
-- Times are milliseconds since 1970. Text is checked to be UTF-8 without NUL before it comes here.

CREATE TABLE apps (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- Bytes that changed the ledger, as they were received.
CREATE TABLE evidence (
    sequence INTEGER PRIMARY KEY,
    sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
    format TEXT NOT NULL,
    customer TEXT,
    received_at INTEGER NOT NULL,
    verdict TEXT NOT NULL,
    proof BLOB NOT NULL
) STRICT;

CREATE TABLE transactions (
    sequence INTEGER PRIMARY KEY,
    app INTEGER NOT NULL REFERENCES apps (code),
    transaction_id INTEGER NOT NULL,
    -- Twice the number of the environment, and one more when a test authority signed: RealmCode.
    realm INTEGER NOT NULL,
    first_evidence INTEGER NOT NULL REFERENCES evidence (sequence),
    latest_evidence INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    customer TEXT,
    order_id TEXT,
    original_id INTEGER,
    product TEXT NOT NULL,
    kind TEXT,
    quantity INTEGER NOT NULL,
    purchased_at INTEGER NOT NULL,
    originally_purchased_at INTEGER,
    expires_at INTEGER,
    revoked_at INTEGER,
    revocation_reason INTEGER,
    revocation_type TEXT,
    revocation_percentage INTEGER,
    is_upgraded INTEGER NOT NULL,
    ownership TEXT,
    account_token BLOB,
    offer_kind INTEGER,
    offer_identifier TEXT,
    offer_discount TEXT,
    offer_period TEXT,
    price_milliunits INTEGER,
    price_currency TEXT,
    storefront TEXT,
    subscription_group TEXT,
    web_order_line_item TEXT,
    app_transaction TEXT,
    signed_at INTEGER NOT NULL,
    UNIQUE (app, transaction_id, realm)
) STRICT;

-- A customer's transactions in the order of their sequence, which ends every index entry.
CREATE INDEX transactions_of_customer ON transactions (app, customer) WHERE customer IS NOT NULL;

-- Proofs that could not be decided when they came.
CREATE TABLE submissions (
    sequence INTEGER PRIMARY KEY,
    app INTEGER NOT NULL REFERENCES apps (code),
    sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
    -- Empty when it came without a customer: two NULLs would not be the same.
    customer TEXT NOT NULL,
    order_id TEXT,
    format TEXT NOT NULL,
    reason TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    settled_at INTEGER,
    verdict TEXT,
    proof BLOB NOT NULL,
    UNIQUE (app, sha256, customer)
) STRICT;

CREATE INDEX submissions_pending ON submissions (sequence) WHERE settled_at IS NULL;

-- How many proofs were refused, for each hour since 1970. App 0 stands for none that we know.
CREATE TABLE refusal_counts (
    hour INTEGER NOT NULL,
    app INTEGER NOT NULL,
    reason TEXT NOT NULL,
    refusals INTEGER NOT NULL,
    PRIMARY KEY (hour, app, reason)
) STRICT, WITHOUT ROWID;

-- The last refused proofs, for a person to look at. The oldest are deleted.
CREATE TABLE refusal_samples (
    sequence INTEGER PRIMARY KEY,
    app INTEGER NOT NULL,
    reason TEXT NOT NULL,
    customer TEXT,
    received_at INTEGER NOT NULL,
    sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
    bytes_in_all INTEGER NOT NULL,
    proof BLOB NOT NULL
) STRICT;
