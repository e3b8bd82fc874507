-- Up to when what imports ask Apple is planned, of all sources of an app: what the next one asks comes after it.
ALTER TABLE apps ADD COLUMN asks_until INTEGER NOT NULL DEFAULT 0;
-- What was planned before this was noted.
UPDATE apps
SET asks_until = coalesce((SELECT max(due_at) FROM jobs WHERE state = 0 AND kind = 'proof.decide'), 0)
WHERE asks_until = 0 AND code IN (SELECT app FROM imports);
