-- Entitlements that a person gave a customer without a purchase, as they were last changed.
CREATE TABLE granted_entitlements (
    app INTEGER NOT NULL REFERENCES apps (code),
    customer TEXT NOT NULL,
    realm INTEGER NOT NULL,
    entitlement TEXT NOT NULL,
    version INTEGER NOT NULL,
    -- Null is for ever.
    ends_at INTEGER,
    revoked INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    changed_by TEXT NOT NULL,
    reason TEXT,
    PRIMARY KEY (app, customer, realm, entitlement)
) STRICT, WITHOUT ROWID;
