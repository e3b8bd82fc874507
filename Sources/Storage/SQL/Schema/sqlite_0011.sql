-- Who may use the dashboard, from where they are signed in, and what they did.

CREATE TABLE admins (
    name TEXT PRIMARY KEY,
    -- viewer, operator or admin.
    role TEXT NOT NULL,
    -- argon2id, in the text form that names its parameters.
    password TEXT NOT NULL,
    is_enabled INTEGER NOT NULL,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE admin_sessions (
    -- SHA-256 of the token that the browser holds; the token itself is nowhere.
    digest BLOB PRIMARY KEY,
    admin TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    ended_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX admin_sessions_of_admin ON admin_sessions (admin, started_at);
CREATE INDEX admin_sessions_by_time ON admin_sessions (started_at);

CREATE TABLE admin_actions (
    sequence INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    -- NULL when nobody was signed in.
    admin TEXT,
    remote TEXT NOT NULL,
    -- A word of ours, such as signed_in.
    action TEXT NOT NULL,
    subject TEXT,
    detail TEXT
) STRICT;
