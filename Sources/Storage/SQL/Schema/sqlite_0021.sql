-- What was presented and decided, by when: it is forgotten some time later. What an import brought is not among it.
CREATE INDEX submissions_settled ON submissions (settled_at) WHERE settled_at IS NOT NULL AND imported = 0;
