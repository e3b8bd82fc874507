-- API keys that were made over the API. The secrets are kept nowhere.

CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    app INTEGER NOT NULL,
    name TEXT NOT NULL,
    -- publishable or secret.
    kind TEXT NOT NULL,
    -- Words, with a comma between two.
    scopes TEXT NOT NULL,
    -- The same; NULL for all of the app's.
    environments TEXT,
    sha256 BLOB NOT NULL UNIQUE,
    hint TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER,
    version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX api_keys_of_app ON api_keys (app, created_at);
