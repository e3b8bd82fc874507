-- What API keys do stands in the log of what people do: sqlite_0014, which says more.

ALTER TABLE admin_actions ADD COLUMN IF NOT EXISTS api_key TEXT COLLATE "C";
