-- What was ordered, what was given for each transaction, and whose it is: sqlite_0003, which says more.

CREATE TABLE IF NOT EXISTS orders (
    app BIGINT NOT NULL,
    order_id TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    customer TEXT COLLATE "C" NOT NULL,
    product TEXT COLLATE "C" NOT NULL,
    quantity BIGINT NOT NULL,
    account_token BYTEA,
    placed_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    changed_at BIGINT NOT NULL,
    -- What pays it: both or none.
    paid_realm SMALLINT,
    paid_by BIGINT,
    match TEXT COLLATE "C",
    PRIMARY KEY (app, order_id)
);

CREATE INDEX IF NOT EXISTS orders_of_customer ON orders (app, customer, order_id);

-- The orders that may still be paid: few of all that there ever were.
CREATE INDEX IF NOT EXISTS orders_open ON orders (app, customer, product, placed_at) WHERE state IN ('pending', 'expired');

CREATE INDEX IF NOT EXISTS orders_open_by_token ON orders (app, account_token)
WHERE state IN ('pending', 'expired') AND account_token IS NOT NULL;

CREATE INDEX IF NOT EXISTS orders_overdue ON orders (expires_at) WHERE state = 'pending';

-- What an account token of an app is known to stand for.
CREATE TABLE IF NOT EXISTS customer_tokens (
    app BIGINT NOT NULL,
    account_token BYTEA NOT NULL CHECK (length(account_token) = 16),
    customer TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (app, account_token)
);

-- A chain is all that one purchase leads to: its original transaction is its name.
CREATE TABLE IF NOT EXISTS owners (
    app BIGINT NOT NULL,
    original_id BIGINT NOT NULL,
    realm SMALLINT NOT NULL,
    version BIGINT NOT NULL,
    customer TEXT COLLATE "C" NOT NULL,
    since BIGINT NOT NULL,
    previous TEXT COLLATE "C",
    PRIMARY KEY (app, original_id, realm)
);

CREATE INDEX IF NOT EXISTS owners_by_customer ON owners (app, customer);

CREATE TABLE IF NOT EXISTS sharers (
    app BIGINT NOT NULL,
    original_id BIGINT NOT NULL,
    realm SMALLINT NOT NULL,
    customer TEXT COLLATE "C" NOT NULL,
    place BIGINT NOT NULL,
    PRIMARY KEY (app, original_id, realm, customer)
);

CREATE INDEX IF NOT EXISTS sharers_by_customer ON sharers (app, customer);

-- One for each transaction. That there is one for each unit, too, is what keeps anything from being given twice.
CREATE TABLE IF NOT EXISTS fulfilments (
    app BIGINT NOT NULL,
    original_id BIGINT NOT NULL,
    realm SMALLINT NOT NULL,
    transaction_id BIGINT NOT NULL,
    version BIGINT NOT NULL,
    product TEXT COLLATE "C" NOT NULL,
    quantity BIGINT NOT NULL,
    purchased_at BIGINT NOT NULL,
    account_token BYTEA,
    customer TEXT COLLATE "C",
    state TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C",
    unit TEXT COLLATE "C",
    order_id TEXT COLLATE "C",
    match TEXT COLLATE "C",
    goods TEXT COLLATE "C" NOT NULL,
    reversed BIGINT NOT NULL,
    reversed_at BIGINT,
    delivery TEXT COLLATE "C",
    fence BIGINT NOT NULL,
    decided_at BIGINT NOT NULL,
    PRIMARY KEY (app, original_id, realm, transaction_id)
);

CREATE UNIQUE INDEX IF NOT EXISTS fulfilments_units ON fulfilments (app, original_id, realm, unit) WHERE unit IS NOT NULL;

CREATE INDEX IF NOT EXISTS fulfilments_waiting ON fulfilments (app, product, customer) WHERE state = 'waiting';

CREATE TABLE IF NOT EXISTS wallets (
    app BIGINT NOT NULL,
    customer TEXT COLLATE "C" NOT NULL,
    realm SMALLINT NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    balance BIGINT NOT NULL,
    uncollected BIGINT NOT NULL,
    postings BIGINT NOT NULL,
    PRIMARY KEY (app, customer, realm, currency)
);

-- Each moves an amount from one account of a wallet to another. Never changed, never deleted.
CREATE TABLE IF NOT EXISTS postings (
    app BIGINT NOT NULL,
    customer TEXT COLLATE "C" NOT NULL,
    realm SMALLINT NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0),
    debit TEXT COLLATE "C" NOT NULL,
    credit TEXT COLLATE "C" NOT NULL,
    cause TEXT COLLATE "C" NOT NULL,
    transaction_id BIGINT,
    posted_at BIGINT NOT NULL,
    PRIMARY KEY (app, customer, realm, currency, number)
);
