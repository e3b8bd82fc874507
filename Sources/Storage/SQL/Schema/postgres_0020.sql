-- What was presented and decided, by when: it is forgotten some time later. What an import brought is not among it.
CREATE INDEX IF NOT EXISTS submissions_settled ON submissions (settled_at)
    WHERE settled_at IS NOT NULL AND imported = 0;
-- Which is the last that was kept.
CREATE INDEX IF NOT EXISTS submissions_in_order ON submissions (sequence);
