-- Figures over time: sums of what the rows of the ledger add, written in the commit that changes those rows. Words of
-- what is counted stand in Measure.

CREATE TABLE figures (
    app INTEGER NOT NULL REFERENCES apps (code),
    -- -1 for what stands on no side of the wall.
    realm INTEGER NOT NULL,
    measure TEXT NOT NULL,
    -- Days since 1970-01-01, UTC.
    day INTEGER NOT NULL,
    -- The next three are empty where they are not counted by.
    product TEXT NOT NULL,
    storefront TEXT NOT NULL,
    currency TEXT NOT NULL,
    step INTEGER NOT NULL,
    -- Who writes where several do at once: a figure is the sum over all of them.
    slot INTEGER NOT NULL,
    amount INTEGER NOT NULL,
    PRIMARY KEY (app, realm, measure, day, product, storefront, currency, step, slot)
) STRICT, WITHOUT ROWID;

-- The apps of which something was recorded before there were figures, and not counted since.
CREATE TABLE figures_due (
    app INTEGER PRIMARY KEY
) STRICT;

INSERT INTO figures_due (app)
SELECT code FROM apps
WHERE EXISTS (SELECT 1 FROM transactions WHERE transactions.app = code)
    OR EXISTS (SELECT 1 FROM orders WHERE orders.app = code);

CREATE INDEX subscriptions_in_state ON subscriptions (app, realm, state, original_id);
