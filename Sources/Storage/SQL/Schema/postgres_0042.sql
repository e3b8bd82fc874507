-- What a refused proof is written in, and the transactions that it claims: each number between blanks.
ALTER TABLE refusal_samples ADD COLUMN IF NOT EXISTS format TEXT COLLATE "C";
ALTER TABLE refusal_samples ADD COLUMN IF NOT EXISTS claimed TEXT COLLATE "C" NOT NULL DEFAULT '';
