-- Entitlements that a person gave a customer without a purchase: sqlite_0016.
CREATE TABLE IF NOT EXISTS granted_entitlements (
    app BIGINT NOT NULL,
    customer TEXT COLLATE "C" NOT NULL,
    realm SMALLINT NOT NULL,
    entitlement TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    ends_at BIGINT,
    revoked BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    changed_by TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C",
    PRIMARY KEY (app, customer, realm, entitlement)
);
