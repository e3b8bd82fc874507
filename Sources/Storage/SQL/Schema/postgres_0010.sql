-- API keys that were made over the API: sqlite_0012, which says more.

CREATE TABLE IF NOT EXISTS api_keys (
    id TEXT COLLATE "C" PRIMARY KEY,
    app BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    scopes TEXT COLLATE "C" NOT NULL,
    environments TEXT COLLATE "C",
    sha256 BYTEA NOT NULL UNIQUE,
    hint TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    created_by TEXT COLLATE "C" NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT,
    last_used_at BIGINT,
    version BIGINT NOT NULL
);

CREATE INDEX IF NOT EXISTS api_keys_of_app ON api_keys (app, created_at);
