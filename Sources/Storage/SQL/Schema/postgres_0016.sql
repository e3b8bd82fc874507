-- Whose a token is, or that something waits for whoever will be known by it: sqlite_0018, which says more.

ALTER TABLE customer_tokens ADD COLUMN IF NOT EXISTS version BIGINT NOT NULL DEFAULT 1;
