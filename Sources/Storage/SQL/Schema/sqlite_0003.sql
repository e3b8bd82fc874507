-- What was ordered, what was given for each transaction, and whose it is. An insert touches one page for each index, and
-- most of these keys are random: the tables whose rows are small are their own index.
-- `version` counts the changes of a row: a change is made to the version that was read, or to none.

CREATE TABLE orders (
    app INTEGER NOT NULL REFERENCES apps (code),
    order_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    customer TEXT NOT NULL,
    product TEXT NOT NULL,
    quantity INTEGER NOT NULL,
    account_token BLOB,
    placed_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    changed_at INTEGER NOT NULL,
    -- What pays it: both or none.
    paid_realm INTEGER,
    paid_by INTEGER,
    match TEXT,
    PRIMARY KEY (app, order_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX orders_of_customer ON orders (app, customer, order_id);

-- The orders that may still be paid: few of all that there ever were.
CREATE INDEX orders_open ON orders (app, customer, product, placed_at) WHERE state IN ('pending', 'expired');

CREATE INDEX orders_open_by_token ON orders (app, account_token)
WHERE state IN ('pending', 'expired') AND account_token IS NOT NULL;

CREATE INDEX orders_overdue ON orders (expires_at) WHERE state = 'pending';

-- What an account token of an app is known to stand for.
CREATE TABLE customer_tokens (
    app INTEGER NOT NULL REFERENCES apps (code),
    account_token BLOB NOT NULL CHECK (length(account_token) = 16),
    customer TEXT NOT NULL,
    PRIMARY KEY (app, account_token)
) STRICT, WITHOUT ROWID;

-- A chain is all that one purchase leads to: its original transaction is its name.
CREATE TABLE owners (
    app INTEGER NOT NULL REFERENCES apps (code),
    original_id INTEGER NOT NULL,
    realm INTEGER NOT NULL,
    version INTEGER NOT NULL,
    customer TEXT NOT NULL,
    since INTEGER NOT NULL,
    previous TEXT,
    PRIMARY KEY (app, original_id, realm)
) STRICT, WITHOUT ROWID;

CREATE INDEX owners_by_customer ON owners (app, customer);

CREATE TABLE sharers (
    app INTEGER NOT NULL REFERENCES apps (code),
    original_id INTEGER NOT NULL,
    realm INTEGER NOT NULL,
    customer TEXT NOT NULL,
    place INTEGER NOT NULL,
    PRIMARY KEY (app, original_id, realm, customer)
) STRICT, WITHOUT ROWID;

CREATE INDEX sharers_by_customer ON sharers (app, customer);

-- One for each transaction. That there is one for each unit, too, is what keeps anything from being given twice.
CREATE TABLE fulfilments (
    app INTEGER NOT NULL REFERENCES apps (code),
    original_id INTEGER NOT NULL,
    realm INTEGER NOT NULL,
    transaction_id INTEGER NOT NULL,
    version INTEGER NOT NULL,
    product TEXT NOT NULL,
    quantity INTEGER NOT NULL,
    purchased_at INTEGER NOT NULL,
    account_token BLOB,
    customer TEXT,
    state TEXT NOT NULL,
    reason TEXT,
    unit TEXT,
    order_id TEXT,
    match TEXT,
    goods TEXT NOT NULL,
    reversed INTEGER NOT NULL,
    reversed_at INTEGER,
    delivery TEXT,
    fence INTEGER NOT NULL,
    decided_at INTEGER NOT NULL,
    PRIMARY KEY (app, original_id, realm, transaction_id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX fulfilments_units ON fulfilments (app, original_id, realm, unit) WHERE unit IS NOT NULL;

CREATE INDEX fulfilments_waiting ON fulfilments (app, product, customer) WHERE state = 'waiting';

CREATE TABLE wallets (
    app INTEGER NOT NULL REFERENCES apps (code),
    customer TEXT NOT NULL,
    realm INTEGER NOT NULL,
    currency TEXT NOT NULL,
    version INTEGER NOT NULL,
    balance INTEGER NOT NULL,
    uncollected INTEGER NOT NULL,
    postings INTEGER NOT NULL,
    PRIMARY KEY (app, customer, realm, currency)
) STRICT, WITHOUT ROWID;

-- Each moves an amount from one account of a wallet to another. Never changed, never deleted.
CREATE TABLE postings (
    app INTEGER NOT NULL REFERENCES apps (code),
    customer TEXT NOT NULL,
    realm INTEGER NOT NULL,
    currency TEXT NOT NULL,
    number INTEGER NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0),
    debit TEXT NOT NULL,
    credit TEXT NOT NULL,
    cause TEXT NOT NULL,
    transaction_id INTEGER,
    posted_at INTEGER NOT NULL,
    PRIMARY KEY (app, customer, realm, currency, number)
) STRICT, WITHOUT ROWID;

-- Whoever presented a chain first, before there were owners, owns it.
INSERT INTO owners (app, original_id, realm, version, customer, since)
SELECT app, coalesce(original_id, transaction_id), realm, 1, customer, min(recorded_at)
FROM transactions WHERE customer IS NOT NULL GROUP BY app, coalesce(original_id, transaction_id), realm;
