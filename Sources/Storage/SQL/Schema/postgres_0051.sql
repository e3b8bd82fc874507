-- What ties each row of the audit log to all rows before it: sqlite_0052, which says more.

ALTER TABLE admin_actions ADD COLUMN IF NOT EXISTS link_number BIGINT;

ALTER TABLE admin_actions ADD COLUMN IF NOT EXISTS link BYTEA;

CREATE UNIQUE INDEX IF NOT EXISTS admin_actions_links ON admin_actions (link_number) WHERE link_number IS NOT NULL;
