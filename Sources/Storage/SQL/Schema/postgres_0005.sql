-- How subscriptions stand: sqlite_0007, which says more.

CREATE TABLE IF NOT EXISTS subscriptions (
    app BIGINT NOT NULL,
    original_id BIGINT NOT NULL,
    realm SMALLINT NOT NULL,
    version BIGINT NOT NULL,
    -- The newest period; NULL while only the word on its renewal is known.
    transaction_id BIGINT,
    product TEXT COLLATE "C" NOT NULL,
    subscription_group TEXT COLLATE "C",
    expires_at BIGINT,
    grace_ends_at BIGINT,
    will_auto_renew BIGINT,
    state TEXT COLLATE "C" NOT NULL,
    since BIGINT,
    -- NULL when it is over for good.
    next_look_at BIGINT,
    looked_at BIGINT NOT NULL,
    -- What Apple signed about the renewal; all of it is NULL without.
    renewal_signed_at BIGINT,
    renewal_product TEXT COLLATE "C",
    renewal_next_product TEXT COLLATE "C",
    renewal_auto_renew BIGINT,
    renewal_environment TEXT COLLATE "C",
    renewal_intent BIGINT,
    renewal_retrying BIGINT,
    renewal_grace_ends_at BIGINT,
    renewal_renews_at BIGINT,
    renewal_recent_start_at BIGINT,
    renewal_price BIGINT,
    renewal_currency TEXT COLLATE "C",
    renewal_price_increase BIGINT,
    renewal_offer_kind BIGINT,
    renewal_offer_identifier TEXT COLLATE "C",
    renewal_offer_discount TEXT COLLATE "C",
    renewal_offer_period TEXT COLLATE "C",
    renewal_account_token BYTEA,
    PRIMARY KEY (app, original_id, realm)
);

CREATE INDEX IF NOT EXISTS subscriptions_due ON subscriptions (next_look_at) WHERE next_look_at IS NOT NULL;

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
) AS periods WHERE place = 1 ON CONFLICT DO NOTHING;
