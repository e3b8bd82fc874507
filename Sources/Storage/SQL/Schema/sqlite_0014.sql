-- What API keys do stands in the log of what people do.

-- The key that did it: its app, and its id, or its name where the configuration gives it. NULL when somebody of admins did, or
-- nobody who is known.
ALTER TABLE admin_actions ADD COLUMN api_key TEXT;
