-- Who may use the dashboard, from where they are signed in, and what they did: sqlite_0011, which says more.

CREATE TABLE IF NOT EXISTS admins (
    name TEXT COLLATE "C" PRIMARY KEY,
    role TEXT COLLATE "C" NOT NULL,
    password TEXT COLLATE "C" NOT NULL,
    is_enabled SMALLINT NOT NULL,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE IF NOT EXISTS admin_sessions (
    digest BYTEA PRIMARY KEY,
    admin TEXT COLLATE "C" NOT NULL,
    started_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    ended_at BIGINT
);

CREATE INDEX IF NOT EXISTS admin_sessions_of_admin ON admin_sessions (admin, started_at);

CREATE INDEX IF NOT EXISTS admin_sessions_by_time ON admin_sessions (started_at);

CREATE TABLE IF NOT EXISTS admin_actions (
    sequence BIGINT PRIMARY KEY,
    at BIGINT NOT NULL,
    admin TEXT COLLATE "C",
    remote TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C",
    detail TEXT COLLATE "C"
);
