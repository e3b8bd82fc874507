-- How subscriptions stand: what Apple last signed about the renewal of each chain, and what of the rest is looked for.
-- What the newest period says stands with its transaction.

CREATE TABLE subscriptions (
    app INTEGER NOT NULL REFERENCES apps (code),
    original_id INTEGER NOT NULL,
    realm INTEGER NOT NULL,
    version INTEGER NOT NULL,
    -- The newest period; NULL while only the word on its renewal is known.
    transaction_id INTEGER,
    product TEXT NOT NULL,
    subscription_group TEXT,
    expires_at INTEGER,
    grace_ends_at INTEGER,
    will_auto_renew INTEGER,
    state TEXT NOT NULL,
    since INTEGER,
    -- NULL when it is over for good.
    next_look_at INTEGER,
    looked_at INTEGER NOT NULL,
    -- What Apple signed about the renewal; all of it is NULL without.
    renewal_signed_at INTEGER,
    renewal_product TEXT,
    renewal_next_product TEXT,
    renewal_auto_renew INTEGER,
    renewal_environment TEXT,
    renewal_intent INTEGER,
    renewal_retrying INTEGER,
    renewal_grace_ends_at INTEGER,
    renewal_renews_at INTEGER,
    renewal_recent_start_at INTEGER,
    renewal_price INTEGER,
    renewal_currency TEXT,
    renewal_price_increase INTEGER,
    renewal_offer_kind INTEGER,
    renewal_offer_identifier TEXT,
    renewal_offer_discount TEXT,
    renewal_offer_period TEXT,
    renewal_account_token BLOB,
    PRIMARY KEY (app, original_id, realm)
) STRICT, WITHOUT ROWID;

CREATE INDEX subscriptions_due ON subscriptions (next_look_at) WHERE next_look_at IS NOT NULL;

-- What was recorded before there were subscriptions: each is looked at once, and nobody is told of its past.
INSERT INTO subscriptions (
    app, original_id, realm, version, transaction_id, product, subscription_group, expires_at, state, next_look_at, looked_at
)
SELECT app, chain, realm, 1, transaction_id, product, subscription_group, expires_at, 'unknown', 0, 0
FROM (
    SELECT
        t.app, coalesce(f.original_id, t.original_id, t.transaction_id) AS chain, t.realm, t.transaction_id, t.product,
        t.subscription_group, t.expires_at,
        row_number() OVER (
            PARTITION BY t.app, coalesce(f.original_id, t.original_id, t.transaction_id), t.realm
            ORDER BY t.purchased_at / 1000 DESC, t.transaction_id DESC
        ) AS place
    FROM transactions AS t
    LEFT JOIN fulfilments AS f ON f.app = t.app AND f.realm = t.realm AND f.transaction_id = t.transaction_id
        AND f.original_id IN (t.original_id, t.transaction_id)
    WHERE t.kind = 'auto_renewable_subscription'
        OR t.kind IS NULL
        AND (t.expires_at IS NOT NULL OR t.subscription_group IS NOT NULL OR t.web_order_line_item IS NOT NULL)
) AS periods WHERE place = 1;
