-- What a refused proof is written in, and the transactions that it claims: each number between blanks.
ALTER TABLE refusal_samples ADD COLUMN format TEXT;
ALTER TABLE refusal_samples ADD COLUMN claimed TEXT NOT NULL DEFAULT '';
-- Behind the proof a column is read through all of it: what is looked for stands here.
CREATE INDEX refusal_samples_of_transaction ON refusal_samples (app, claimed);
