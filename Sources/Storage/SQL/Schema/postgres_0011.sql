-- Figures over time: sqlite_0013, which says more.

CREATE TABLE IF NOT EXISTS figures (
    app BIGINT NOT NULL,
    realm SMALLINT NOT NULL,
    measure TEXT COLLATE "C" NOT NULL,
    day BIGINT NOT NULL,
    product TEXT COLLATE "C" NOT NULL,
    storefront TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    step BIGINT NOT NULL,
    slot BIGINT NOT NULL,
    amount BIGINT NOT NULL,
    PRIMARY KEY (app, realm, measure, day, product, storefront, currency, step, slot)
);

CREATE TABLE IF NOT EXISTS figures_due (
    app BIGINT PRIMARY KEY
);

INSERT INTO figures_due (app)
SELECT code FROM apps
WHERE EXISTS (SELECT 1 FROM transactions WHERE transactions.app = code)
    OR EXISTS (SELECT 1 FROM orders WHERE orders.app = code)
ON CONFLICT (app) DO NOTHING;

CREATE INDEX IF NOT EXISTS subscriptions_in_state ON subscriptions (app, realm, state, original_id);
